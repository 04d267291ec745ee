package convert

import (
	"context"
	"slices"
)

// Places copies records that are elsewhere to this host, and returns where they are here. Other names stay as they are.
type Places interface {
	Files(ctx context.Context, names ...string) ([]string, error)
	Folder(ctx context.Context, name string) (string, error)
}

// Here returns o with the names of this host for records that are elsewhere.
func (o Origin) Here(ctx context.Context, places Places) (Origin, error) {
	var err error
	if o.Files, err = places.Files(ctx, o.Files...); err != nil {
		return o, err
	}
	for _, name := range []*string{&o.Images, &o.Labels} {
		if *name, err = places.Folder(ctx, *name); err != nil {
			return o, err
		}
	}
	return o, nil
}

// Rename returns o with other names, those of its files, images and labels.
func (o Origin) Rename(name func(string) string) Origin {
	o.Files = slices.Clone(o.Files)
	for i := range o.Files {
		o.Files[i] = name(o.Files[i])
	}
	o.Images, o.Labels = name(o.Images), name(o.Labels)
	return o
}

// All returns all names of files and folders of o.
func (o Origin) All() []string { return append([]string{o.Images, o.Labels}, o.Files...) }
