package records

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/look"
)

// openSpec opens the files that s names, those of a set, "" for files that no key names.
func (o *Opener) openSpec(ctx context.Context, s convert.Spec, set string) (input.Dataset, error) {
	var err error
	if s.Origin, err = o.find(ctx, s.Origin, set); err != nil {
		return nil, err
	}
	if set == "" && s.Columns != nil {
		if s.Origin, err = look.OfFiles(ctx, s.Origin, s.Limits); err != nil {
			return nil, err
		}
	}
	return convert.Open(ctx, s)
}

// find finds the files of a set.
func (o *Opener) find(ctx context.Context, from convert.Origin, set string) (convert.Origin, error) {
	here, err := from.Rename(o.far).Here(ctx, o.places)
	if err != nil {
		return from, err
	}
	notice := o.opts.Repeated
	if set != "" && notice != nil {
		notice = func(text string) { o.opts.Repeated(set + ": " + text) }
	}
	return here.Find(o.opts.Roots, notice)
}
