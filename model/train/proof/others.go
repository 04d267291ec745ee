package proof

import (
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
)

// Others compares what no file has: the requests that are made up, and of columns one record with each feature left out, and
// an empty example.
func (p *Prover) Others(requests []Request) error {
	if err := p.compareRequests(requests); err != nil || p.of.Plan == nil {
		return err
	}
	base := p.first
	if base == nil && len(requests) > 0 {
		base = requests[0].cells
	}
	if base == nil {
		return nil
	}
	var all []made
	plan := p.of.Plan
	for _, f := range plan.Features() {
		lacks := slices.Clone(base)
		f.Put(lacks, f.Copy(make([]column.Cell, len(base))))
		all = append(all, made{lacks, "a record without " + f.Name})
	}
	for _, at := range plan.Keys {
		all = append(all, made{without(base, at), "a record without " + plan.Inputs[at]})
	}
	return p.compareMade(append(all, made{make([]column.Cell, len(base)), "an empty example"}))
}

// without returns cells, of which one is empty.
func without(cells []column.Cell, at int) []column.Cell {
	all := slices.Clone(cells)
	all[at] = column.Cell{}
	return all
}

// made is a record with columns that is in no file.
type made struct {
	cells []column.Cell
	name  string
}

// compareMade compares records with columns. Those that the model refuses are passed over: the model has no answer to them.
func (p *Prover) compareMade(all []made) error {
	b := input.Batch{WantKeys: true}
	var cells [][]column.Cell
	var names []string
	for _, one := range all {
		before := b.Mark()
		if err := p.examples.runner.Append(&b, one.cells); err != nil {
			b.Restore(before)
			continue
		}
		cells, names = append(cells, one.cells), append(names, one.name)
	}
	if len(cells) == 0 {
		return nil
	}
	b.X.Bags.Index()
	_, err := p.compare(&b, cells, p.programs, unread(func(i int) string { return names[i] }))
	return err
}

// compareRequests compares requests that are made up.
func (p *Prover) compareRequests(requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	var b input.Batch
	var all []made
	for i, r := range requests {
		name := fmt.Sprintf("made-up request %d", i+1)
		if p.of.Plan != nil {
			all = append(all, made{r.cells, name})
			continue
		}
		r.appendTo(&b)
	}
	if p.of.Plan != nil {
		return p.compareMade(all)
	}
	b.X.Bags.Index()
	_, err := p.compare(&b, nil, p.programs, unread(func(i int) string { return fmt.Sprintf("made-up request %d", i+1) }))
	return err
}
