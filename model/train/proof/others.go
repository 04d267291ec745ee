package proof

import (
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
	var all []Request
	plan := p.of.Plan
	for _, f := range plan.Features() {
		lacks := slices.Clone(base)
		f.Put(lacks, f.Copy(make([]column.Cell, len(base))))
		all = append(all, Request{name: "a record without " + f.Name, cells: lacks})
	}
	for _, at := range plan.Keys {
		all = append(all, Request{name: "a record without " + plan.Inputs[at], cells: without(base, at)})
	}
	return p.compareRequests(append(all, Request{name: "an empty example", cells: make([]column.Cell, len(base))}))
}

// without returns cells, of which one is empty.
func without(cells []column.Cell, at int) []column.Cell {
	all := slices.Clone(cells)
	all[at] = column.Cell{}
	return all
}

// compareRequests compares records that are in no file.
func (p *Prover) compareRequests(all []Request) error {
	b, cells, names := p.batchOf(all)
	if len(names) == 0 {
		return nil
	}
	_, err := p.compare(b, cells, p.programs, unread(func(i int) string { return names[i] }))
	return err
}

// batchOf returns requests as a batch, their cells, nil without columns, and their names. Those that the model refuses are
// passed over: the model has no answer to them.
func (p *Prover) batchOf(all []Request) (b *input.Batch, cells [][]column.Cell, names []string) {
	b = &input.Batch{WantKeys: true}
	for i := range all {
		one := &all[i]
		if p.of.Plan == nil {
			one.appendTo(b)
		} else {
			before := b.Mark()
			if err := p.examples.runner.Append(b, one.cells); err != nil {
				b.Restore(before)
				continue
			}
			cells = append(cells, one.cells)
		}
		names = append(names, one.name)
	}
	b.X.Bags.Index()
	return b, cells, names
}
