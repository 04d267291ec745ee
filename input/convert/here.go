package convert

import "context"

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

// All returns all names of files and folders of o.
func (o Origin) All() []string { return append([]string{o.Images, o.Labels}, o.Files...) }
