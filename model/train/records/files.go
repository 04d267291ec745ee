package records

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/look"
	"ringtrain/model/train/report"
)

// openSpec opens the files that s names, those of a set, "" for files that no key names.
func (o *Opener) openSpec(ctx context.Context, s convert.Spec, set string) (input.Dataset, error) {
	name := cmp.Or(set, strings.Join(s.Files, ", "))
	var err error
	if s.Origin, err = o.find(ctx, s.Origin, set); err != nil {
		return nil, err
	}
	if set == "" && s.Columns != nil {
		if s.Origin, err = look.OfFiles(ctx, s.Origin, s.Limits); err != nil {
			return nil, err
		}
	}
	d, err := convert.Open(ctx, s)
	if err == nil && s.Columns != nil {
		o.compareTexts(ctx, &s, name)
	}
	return d, err
}

// compareTexts warns of columns whose texts the records of a set write as none of training. The plan learns of training how
// it writes them.
func (o *Opener) compareTexts(ctx context.Context, s *convert.Spec, set string) {
	all := look.Written(ctx, s, column.Hashes(s.Columns))
	if s.Learn {
		column.SetWritten(s.Columns, all)
	}
	column.Strange(s.Columns, all, func(name, what, fix string) {
		o.strange = append(o.strange, report.Warning{Operation: "input", Set: set, Column: name, Cause: fmt.Sprintf("%s: %s %s: write %s", set, name, what, fix)})
	})
}

// Strange returns the warnings of sets that write texts as none of training, once.
func (o *Opener) Strange() []report.Warning {
	all := o.strange
	o.strange = nil
	return all
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
