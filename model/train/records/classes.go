package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// prepareClasses makes the classes of labels that have names. Names that the training records have are learnt: of
// columns when the records are opened, and here of others.
func (o *Opener) prepareClasses(ctx context.Context) error {
	m := &o.job.Model
	if !m.Named() || o.classes != nil {
		return nil
	}
	train := o.job.Input.Train
	f, _ := convert.FormatOf(train.Format)
	names, err := m.Names(), error(nil)
	switch {
	case names != nil:
	case m.Classes.File() != "":
		names, err = o.vocabulary(ctx, m.Classes.File())
	case f.Classes != nil:
		names, err = o.folderClasses(ctx, f, train)
	case len(o.job.Input.RecordColumns()) == 0:
		names, err = o.learnClasses(ctx)
	default:
		o.classes = input.LearnClasses()
		return nil
	}
	if err != nil {
		return fmt.Errorf("model.classes: %w", err)
	}
	return o.setClasses(names)
}

// setClasses has the job's labels be the names of classes. A job that does not fit them is an error.
func (o *Opener) setClasses(names []string) error {
	if o.job.Model.Unnamed() {
		o.job.Model.SetNames(names)
	}
	if o.classes == nil {
		o.classes = input.NewClasses(names)
	}
	o.names = names
	return o.job.Locate(o.job.CheckClasses())
}

// learntClasses takes over the classes that were learnt from the open training records, whose folders have names.
func (o *Opener) learntClasses(folders []string) error {
	if o.job.Model.Unnamed() {
		return o.setClasses(o.classes.Names())
	}
	if o.names == nil {
		o.names = folders
	}
	return nil
}

// folderClasses returns the classes of a folder of images.
func (o *Opener) folderClasses(ctx context.Context, f convert.Format, train convert.Origin) ([]string, error) {
	found, err := o.find(ctx, train, "input.train")
	if err != nil {
		return nil, adviseOnMissing(o.job, err)
	}
	names, err := f.Classes(found.Named()[0])
	graph.SortClasses(names)
	return names, err
}

// learnClasses returns the labels of the training records, which have no columns. It reads them once more than
// training does.
func (o *Opener) learnClasses(ctx context.Context) ([]string, error) {
	learning := input.LearnClasses()
	spec := o.splitSpec(split{key: "input.train", files: o.job.Input.Train, features: o.job.DeclaredFeatures()})
	spec.Cache, spec.LabelRule = convert.CacheOff, input.Labels{Names: learning}
	d, err := o.openSpec(ctx, spec, "input.train")
	if err != nil {
		return nil, adviseOnMissing(o.job, err)
	}
	defer func() { d.Close() }()
	if split := &o.job.Input.Split; split.Holds() {
		d = split.PartsOf(d).View(d, input.Training)
	}
	seen, err := labelsOf(ctx, d, spec.Tolerate)
	if err != nil {
		return nil, err
	}
	var names []string
	for class, name := range learning.Names() {
		if seen[float32(class)] {
			names = append(names, name)
		}
	}
	return input.SettledClasses(names)
}

// labelsOf returns the labels of a data set.
func labelsOf(ctx context.Context, d input.Dataset, tolerate bool) (map[float32]bool, error) {
	seen := map[float32]bool{}
	var b input.Batch
	err := input.EachBlock(ctx, &b, d, d.Facts().Records, tolerate, func(int) error {
		for _, y := range b.Y {
			seen[y] = true
		}
		return nil
	})
	return seen, err
}

// AdoptClasses takes over the names of the classes of a trained model. path names the checkpoint or bundle that
// stores them; names is nil if it has none.
func (o *Opener) AdoptClasses(path string, names []string) error {
	m := &o.job.Model
	switch now := m.Names(); {
	case m.Unnamed() && names == nil:
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s does not store the names of the classes, which model.classes %s needs", path, m.Classes))
	case m.Unnamed():
		return o.setClasses(names)
	case now != nil && names != nil && !slices.Equal(now, names):
		return exitcode.With(exitcode.Usage, errors.New("model.classes is "+strings.Join(now, ", ")+", was "+strings.Join(names, ", ")+" in "+path))
	case now != nil:
		return o.setClasses(now)
	}
	o.names = names // of images
	return nil
}

// labels returns the rule for the labels of the job's records.
func (o *Opener) labels() input.Labels {
	if o.classes != nil {
		return input.Labels{Names: o.classes}
	}
	return o.job.Labels()
}
