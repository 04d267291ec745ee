package look

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/ring/exitcode"
)

// checkPlain is Check of records without columns: those of images, IDX, LibSVM, libffm, VW and TFRecord.
func checkPlain(ctx context.Context, train, eval *convert.Spec) (*Report, error) {
	trained, validated := newSide("input.train", train.Tolerate), newSide("input.eval", false)
	if train.Split.Validates() {
		validated = newSide("input.split", train.Tolerate)
	}
	facts, err := readPlain(ctx, train, trained, validated)
	if err == nil && eval != nil {
		s := *eval
		s.Features, s.Names = max(s.Features, facts.Features), facts.Classes
		_, err = readPlain(ctx, &s, validated, nil)
	}
	if err != nil {
		return nil, err
	}
	names, rule := facts.Classes, train.LabelRule
	if rule.Names != nil {
		names = rule.Names.Names()
	}
	c := trained.labels.column()
	nameClasses(c.Values, names)
	r := &Report{Records: c.Records, Columns: []Column{*c}}
	if names != nil || rule.Classes > 0 || rule.Binary {
		r.Classes = c.Values
	} else if len(c.Values) > mostValues {
		r.Columns[0].Values = nil
	}
	trained.fault(r)
	if eval == nil && !train.Split.Validates() {
		return r, nil
	}
	validated.fault(r)
	validated.apart(r, trained)
	held := validated.labels.column().Values
	nameClasses(held, names)
	r.fewOfClass("label", r.Classes, held)
	return r, nil
}

// A side has what is found of the training or the validation records of a job, which have no columns.
type side struct {
	key    string // of the job
	labels labels
	part   tally    // labels of the records that were read last
	known  distinct // hashes of records
	bad    Finding
}

// mostLabels bounds the labels of a side that are told apart.
const mostLabels = 1 << 16

func newSide(key string, tolerates bool) *side {
	s := &side{key: key, labels: labels{count: map[float32]int64{}, most: mostLabels}, known: distinct{limit: mostRecords}}
	s.bad = Finding{What: key + ": bad records", Ends: !tolerates}
	return s
}

// seen is a record that has been read: its label and hash, or its fault.
type seen struct {
	label float32
	hash  uint64
	fault error
}

// add takes a record.
func (s *side) add(r *seen) {
	if r.fault == nil {
		s.labels.add(r.label)
		s.part.number(float64(r.label), false)
		s.known.add(r.hash)
		return
	}
	s.bad.Records += int64(input.Lost(r.fault))
	if len(s.bad.Examples) < mostExamples {
		s.bad.Examples = append(s.bad.Examples, Odd{Text: r.fault.Error(), Records: 1})
	}
}

// end puts the labels of a part behind those before.
func (s *side) end() {
	s.part.end()
	s.labels.all.merge(&s.part)
	s.part.reset()
}

// fault adds the bad records, if there are any.
func (s *side) fault(r *Report) {
	if s.bad.Records > 0 {
		s.bad.Fix = labelFix(s.bad.Examples[0].Text, "mend the records, or input.max_bad_records: N")
		r.Findings = append(r.Findings, s.bad)
	}
}

// apart adds the records that training has, too, if there are any.
func (s *side) apart(r *Report, trained *side) {
	if n := s.known.common(&trained.known); n > 0 {
		r.Findings = append(r.Findings, Finding{What: "records are in input.train and in " + s.key, Records: n, Fix: "take them out of one, so that metrics say something of new records"})
	}
}

// aTime is how many records a goroutine reads before it takes others.
const aTime = 64

// readPlain reads the records of a set into the sides of those that train and of those that validate. Test records are
// not read.
func readPlain(ctx context.Context, s *convert.Spec, trained, validated *side) (input.Facts, error) {
	opened := *s
	opened.Learn, opened.Share, opened.Tolerate, opened.Cache = false, false, true, convert.CacheOff
	d, err := convert.Open(ctx, opened)
	if err != nil {
		return input.Facts{}, fmt.Errorf("%s: %w", trained.key, err)
	}
	defer d.Close()
	facts, parts := d.Facts(), (*input.Parts)(nil)
	if s.Split.Holds() {
		parts = s.Split.PartsOf(d)
	}
	sideOf := func(record int) *side {
		switch {
		case parts.Trains(record):
			return trained
		case parts.Has(record, input.Validation):
			return validated
		}
		return nil
	}
	window := make([]seen, recordsOfPart)
	for first := 0; first < facts.Records; first += len(window) {
		n := min(len(window), facts.Records-first)
		err := input.SideBySide(ctx, (n+aTime-1)/aTime, runtime.GOMAXPROCS(0), func(_, i int) error {
			var b input.Batch
			var memory []byte
			for k := i * aTime; k < min(n, (i+1)*aTime); k++ {
				if sideOf(first+k) == nil {
					continue
				}
				b.Reset()
				if err := window[k].read(&b, d, first+k); err != nil {
					return err
				}
				memory = window[k].sum(memory[:0], &b)
			}
			return nil
		})
		if err != nil {
			return facts, fmt.Errorf("%s: %w", trained.key, err)
		}
		for k := range n {
			if side := sideOf(first + k); side != nil {
				side.add(&window[k])
			}
		}
		trained.end()
		if validated != nil {
			validated.end()
		}
	}
	return facts, trained.check(validated, s)
}

// read reads a record into b. An error is not of the record.
func (s *seen) read(b *input.Batch, d input.Dataset, record int) error {
	*s = seen{fault: d.Append(b, record)}
	if s.fault != nil && !input.BadRecord(s.fault) {
		return s.fault
	}
	return nil
}

// sum sets the label and hash of a good record in b. It returns its memory.
func (s *seen) sum(memory []byte, b *input.Batch) []byte {
	if s.fault != nil {
		return memory
	}
	s.label = b.Y[0]
	for _, values := range []any{b.Y, b.Importance, b.X.Dense.Data, b.X.Bags.Start, b.X.Bags.Slot, b.X.Bags.Weights} {
		memory, _ = binary.Append(memory, binary.LittleEndian, values) // no error of numbers
	}
	s.hash = hash(memory)
	return memory
}

// check returns an error if s, or a part of the split that trains or validates, has no record.
func (s *side) check(validated *side, of *convert.Spec) error {
	isEmpty := func(s *side) bool { return s.labels.all.numbers == 0 && s.bad.Records == 0 }
	fail := func(format string, args ...any) error {
		return exitcode.With(exitcode.BadData, fmt.Errorf(format, args...))
	}
	switch {
	case isEmpty(s) && !of.Split.Holds():
		return fail("%s: no records in %s", s.key, of.Named()[0])
	case isEmpty(s):
		return fail("input.split: no training records: %s", of.Split)
	case of.Split.Validates() && isEmpty(validated):
		return fail("input.split: no validation records: %s", of.Split)
	}
	return nil
}
