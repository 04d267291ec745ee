package tfrecord

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A feature that input.columns names and no training record has is an error, as of a header. It may be
// rare: the records are searched until each is found. Nearly all files have them all in the first record.

// search reads records [from, to) until all features are found. It returns the error of the first bad
// record, unless it is tolerated. It passes over bad records that lack a feature which is not found yet:
// that none has it says more.
func (s *columnSet) search(ctx context.Context, found []byte, from, to int) error {
	r, trial := s.newReader(), column.NewLearner(s.columns.Plan, s.config.Labels).Part(0)
	var first, lacked error
	for i := from; i < to && bytes.IndexByte(found, 0) >= 0; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		lacks := false
		err := s.with(&r.frame, i, func(example []byte) error {
			if err := s.fill(r, i, example); err != nil {
				return err
			}
			for k, has := range r.seen {
				lacks = lacks || found[k]|has == 0
			}
			return trial.Learn(r.Cells)
		})
		switch {
		case lacks:
			lacked = cmp.Or(lacked, err)
		case err != nil && !s.tolerates(err):
			return err
		default:
			first = cmp.Or(first, err)
		}
		for k := 0; k < len(found) && (err == nil || lacks); k++ {
			found[k] |= r.seen[k]
		}
	}
	switch {
	case bytes.IndexByte(found, 0) < 0 && !s.tolerates(lacked):
		return lacked
	case first != nil && bytes.IndexByte(found, 1) < 0:
		return input.AllBad(to-from, first)
	}
	s.lacked = cmp.Or(s.lacked, lacked)
	return nil
}

// find searches for the features of the columns. With Share it leaves most records of large files to the
// ranks together.
func (s *columnSet) find(ctx context.Context) error {
	s.found, s.searched = make([]byte, len(s.columns.Plan.Inputs)), s.facts.Records
	if s.columns.Share && s.facts.IsShared() {
		s.searched = min(s.facts.Records, partRecords)
	}
	if err := s.search(ctx, s.found, 0, s.searched); err != nil {
		return err
	}
	if s.searched < s.facts.Records && bytes.IndexByte(s.found, 0) >= 0 {
		return nil
	}
	return s.JoinCounts(nil)
}

// Facts lacks the records in the manifest until all features are found: see input.Counting.
func (s *columnSet) Facts() input.Facts {
	facts := s.facts
	if s.found != nil {
		facts.Counting, facts.Manifest = s, slices.Clone(facts.Manifest)
		for i, f := range s.files {
			facts.Manifest[i] = f.base()
		}
	}
	return facts
}

// Sample returns 0: the manifest tells the files apart.
func (s *columnSet) Sample() (uint32, error) { return 0, nil }

// CountShare searches a part of the records, and appends a byte for each column.
func (s *columnSet) CountShare(ctx context.Context, dst []byte, part, parts int) ([]byte, error) {
	found := slices.Clone(s.found)
	from, to := input.Share(s.facts.Records-s.searched, part, parts)
	err := s.search(ctx, found, s.searched+from, s.searched+to)
	return append(dst, found...), err
}

// JoinCounts takes what all parts have found.
func (s *columnSet) JoinCounts(parts [][]byte) error {
	for i, part := range parts {
		if len(part) != len(s.found) {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("tfrecord: part %d of %d found %d columns, want %d", i, len(parts), len(part), len(s.found)))
		}
		for k, has := range part {
			s.found[k] |= has
		}
	}
	if k := bytes.IndexByte(s.found, 0); k >= 0 {
		return s.absent(s.columns.Plan.Inputs[k], "input.columns")
	}
	s.found = nil
	return nil
}

// absent is the error of a column that a key names and no record has.
func (s *columnSet) absent(name, key string) error {
	const few = 100
	var frame []byte
	var there []string
	for i := range min(s.facts.Records, few) {
		s.with(&frame, i, func(example []byte) error { // a bad record has no names
			there = appendNames(there, example)
			return nil
		})
	}
	records := phrase.Count(s.facts.Records, "record")
	if slices.Contains(there, name) { // of a bad one
		records = "the good ones of " + records
	}
	others := slices.DeleteFunc(slices.Clone(there), func(n string) bool { return slices.Contains(s.columns.Plan.Inputs, n) })
	err := fmt.Errorf("tfrecord: no feature %s in %s, which %s names%s; there are %s",
		name, records, key, phrase.DidYouMean(name, others), listed(there))
	if s.lacked != nil {
		err = fmt.Errorf("%w; %w", err, s.lacked)
	}
	return exitcode.With(exitcode.BadData, err)
}
