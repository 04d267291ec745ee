package input

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// A Part is what a record of the training files is for.
type Part uint8

// The parts of a data set.
const (
	Training Part = iota
	Validation
	Test
	parts
)

// String returns the name of the part, as in the events of evaluations.
func (p Part) String() string { return [...]string{"train", "eval", "test"}[p] }

// Records returns the word for the records of the part in messages.
func (p Part) Records() string { return [...]string{"training", "validation", "test"}[p] }

// Split says which records of the training files are held out of training. Which part a record is in
// depends on the record alone: on its number, or on one of its cells. The zero Split holds out none.
//
// The places of all records, in an order that Seed draws, are cut: the test records are the first, and the folds
// follow. With By a record has the place of its cell, which a hash draws.
type Split struct {
	Share *float64 `yaml:"share" takes:"above 0 and below 1" doc:"Share of the records of input.train that validate, instead of input.eval: by the number of the record in all files, and exactly so many. Nothing is learnt from them. With input.split.test, of those that are left."`
	By    string   `yaml:"by" doc:"Of files with columns: the column whose cell says which part a record is in, in the place of its number. Records with equal cells, as of one customer, are in one part, in each file. A record without a cell trains."`
	From  string   `yaml:"from" doc:"With input.split.by and without share: records whose cell is this or comes behind it validate. Numbers compare by value, other cells in bytewise order, as dates of ISO 8601 do."`
	Fold  int      `yaml:"fold" takes:"0 or more" doc:"Which of the 1/share folds validates, from 0. Above 0, 1/share is a whole number (a third is 0.3333)."`
	Test  *float64 `yaml:"test" takes:"above 0 and below 1" doc:"Share of the records that neither train nor validate. They are taken first, and evaluated once, at the end (event ‘eval’, ‘split’: ‘test’)."`
	Seed  uint64   `yaml:"seed" takes:"0 or more" doc:"Another seed draws other records. train.seed does not."`
}

// Holds reports whether the split holds out records.
func (s *Split) Holds() bool { return s.Validates() || s.Test != nil }

// Validates reports whether the split holds out validation records.
func (s *Split) Validates() bool { return s.Share != nil || s.From != "" }

// Check returns all faults of the split at once, as of the key input.split.
func (s *Split) Check() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("input.split."+format, args...)) }
	switch {
	case !s.Holds() && *s != (Split{}):
		add("share is absent, want the share of the records that validate, as in {share: 0.1}, or input.split.from")
	case s.From != "" && s.By == "":
		add("from is %s, which needs input.split.by: the column that it is compared with", s.From)
	case s.From != "" && s.Share != nil:
		add("share and from are given, want one of them")
	}
	switch folds, whole := s.folds(); {
	case s.Fold == 0:
	case s.Share == nil:
		add("fold is %d, which needs input.split.share", s.Fold)
	case !whole:
		add("share is %g, want 1 divided by a whole number with input.split.fold, as 0.1 or 0.3333", *s.Share)
	case s.Fold >= folds:
		add("fold is %d, want 0 to %d: input.split.share is %g", s.Fold, folds-1, *s.Share)
	}
	return errors.Join(faults...)
}

// folds returns how many folds the share makes, if that is a whole number. Decimals cannot say a third.
func (s *Split) folds() (n int, whole bool) {
	if s.Share == nil || *s.Share <= 0 {
		return 0, false
	}
	folds := math.Round(1 / *s.Share)
	return int(folds), math.Abs(1 / *s.Share - folds) <= 2e-4*folds
}

// cut is a Split of n places: test records are those below test, validation records those in [from, to).
type cut struct{ test, from, to uint64 }

func (s *Split) cut(n uint64) (c cut) {
	if s.Test != nil {
		c.test = uint64(math.Round(float64(n) * *s.Test))
	}
	if s.Share == nil {
		return c
	}
	rest, share := float64(n-c.test), *s.Share
	if folds, whole := s.folds(); whole {
		share = 1 / float64(folds)
	}
	c.from = c.test + uint64(math.Round(rest*share*float64(s.Fold)))
	c.to = min(c.test+uint64(math.Round(rest*share*float64(s.Fold+1))), n)
	return c
}

// splitKey makes the order of a split another one than that of an epoch with its seed.
const splitKey = 0x73706c6974 // "split"

// Held returns the parts that hold out records.
func (s *Split) Held() (held []Part) {
	if s.Validates() {
		held = append(held, Validation)
	}
	if s.Test != nil {
		held = append(held, Test)
	}
	return held
}

// Parts returns the parts of n records: by their numbers, or all of them train until [Parts.PutCell] has had their
// cells. Without a split they are nil.
func (s *Split) Parts(n int) *Parts {
	if !s.Holds() {
		return nil
	}
	p := NewParts(n, s.Held()...)
	if s.By != "" {
		p.cells = s.cells()
		return p
	}
	c, all := s.cut(uint64(n)), newOrder(s.Seed^splitKey, 0, n)
	for place := range c.test {
		p.Put(all.at(int(place)), Test)
	}
	for place := c.from; place < c.to; place++ {
		p.Put(all.at(int(place)), Validation)
	}
	return p
}

// String returns the keys that hold out records, as in {share: 0.1, fold: 3}.
func (s Split) String() string {
	var keys []string
	add := func(name string, value any, given bool) {
		if given {
			keys = append(keys, fmt.Sprintf("%s: %v", name, value))
		}
	}
	if s.Share != nil {
		add("share", *s.Share, true)
	}
	add("by", s.By, s.By != "")
	add("from", s.From, s.From != "")
	add("fold", s.Fold, s.Fold > 0)
	if s.Test != nil {
		add("test", *s.Test, true)
	}
	add("seed", s.Seed, s.Seed > 0)
	return "{" + strings.Join(keys, ", ") + "}"
}
