package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/tensor"
	"ringtrain/ring/exitcode"
)

// MaxRecords is how many records prove an export.
const MaxRecords = 1000

// Records returns most of the records of d, spread evenly over it, for an evaluation that asks p for the Answers. It closes
// d. The records of a plan must be read from their files: a cache has no cells.
func (p *Prover) Records(d input.Dataset, most int) input.Dataset {
	all := d.Facts().Records
	return &sample{d, p, min(most, all), all}
}

// sample is some of the records of a data set, each of which the prover notes as it is read.
type sample struct {
	input.Dataset
	prover *Prover
	n, of  int
}

// at returns the number in the data set of record i.
func (s *sample) at(i int) int { return int(int64(i) * int64(s.of) / int64(s.n)) }

// Facts are those of the data set, but for the records.
func (s *sample) Facts() input.Facts {
	f := s.Dataset.Facts()
	f.Records, f.Blocks, f.Counting = s.n, nil, nil
	if s.n < s.of {
		f.Counts = nil
	}
	return f
}

// record is one that the prover has noted.
type record struct {
	number int                     // among the records of the files
	at     int                     // in the data set
	place  func(record int) string // of the data set's facts
}

// String names the record for people.
func (r record) String() string {
	text := fmt.Sprintf("record %d", r.number)
	if r.place != nil {
		text += fmt.Sprintf(" (%s)", cmp.Or(r.place(r.at), "its file is gone"))
	}
	return text
}

// Append adds records with their keys, and notes each. What was noted of records that are no longer in b goes.
func (s *sample) Append(b *input.Batch, records ...int) error {
	p := s.prover
	b.WantKeys = true
	place := s.Dataset.Facts().Place
	for _, i := range records {
		p.read, p.cells = p.read[:min(len(p.read), len(b.Y))], p.cells[:min(len(p.cells), len(b.Y))]
		p.raw = nil
		at := s.at(i)
		if err := s.Dataset.Append(b, at); err != nil {
			return err
		}
		p.read = append(p.read, record{input.NumberOf(s.Dataset, at), at, place})
		if p.of.Plan == nil {
			continue
		}
		if p.raw == nil {
			return exitcode.With(exitcode.Internal, errors.New("proof: a record was read without its cells"))
		}
		p.cells = append(p.cells, copied(p.raw))
	}
	return nil
}

// copied returns a copy of cells, which are views.
func copied(cells []column.Cell) []column.Cell {
	all := make([]column.Cell, len(cells))
	for i, c := range cells {
		all[i] = column.Cell{Text: slices.Clone(c.Text), IDs: slices.Clone(c.IDs), Values: slices.Clone(c.Values), Doubles: slices.Clone(c.Doubles)}
		for _, text := range c.Texts {
			all[i].Texts = append(all[i].Texts, slices.Clone(text))
		}
	}
	return all
}

// Answers compares the graph and the model on a batch of Records, and returns the scores of the graph as an evaluation wants
// them: those of a regression as the model learns them. Behind the first MaxRecords it asks for the scores alone, by one
// signature.
func (p *Prover) Answers(b *input.Batch) (tensor.Matrix, error) {
	cells := p.cells[:min(len(p.cells), len(b.Y))]
	if p.of.Plan == nil {
		cells = nil
	} else if p.first == nil && len(cells) > 0 {
		p.first = cells[0]
	}
	signatures := p.programs
	if p.answered >= MaxRecords {
		signatures = p.scoring
	}
	p.answered += len(b.Y)
	scores, err := p.compare(b, cells, signatures, named{func(i int) string { return p.read[i].String() }, func(i int) int { return p.read[i].number }})
	if h := p.expected.head; h.Scale != nil {
		for i, s := range scores.Data {
			scores.Data[i] = float32(h.Scale.Made(float64(s)))
		}
	}
	return scores, err
}
