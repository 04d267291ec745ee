package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"strings"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A feature that a job names and no record has is an error, as of a header. A feature may be rare: the
// records are searched in their order until each name is found. The first record has them all in nearly
// all files.

// search reads records [from, to) by has, which notes what it finds, until all is found. It returns the
// error of the first bad record, unless it is tolerated and there is a good one.
func (d *dataset) search(found []bool, from, to int, has func(record int) error) (err error) {
	good := false
	for i := from; i < to && slices.Contains(found, false); i++ {
		fault := has(i)
		if fault != nil && !d.tolerates(fault) {
			return fault
		}
		if good = good || fault == nil; err == nil {
			err = fault
		}
	}
	if good {
		return nil
	}
	return err
}

// head returns how many records begin in the first bytes of the files.
func (d *dataset) head(bytes int64) int {
	for k, f := range d.files {
		end := f.starts[f.records()]
		if end > bytes {
			return d.firsts[k] + sort.Search(f.records(), func(i int) bool { return f.starts[i] >= bytes })
		}
		bytes -= end
	}
	return d.records
}

// absent returns the error of the names that were not found. Which says what names them.
func (d *dataset) absent(names []string, found []bool, which func(k int) string) error {
	const most = 5
	there := d.names()
	others := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return slices.Contains(names, name) })
	var lacks []string
	for k, name := range names {
		if !found[k] {
			lacks = append(lacks, fmt.Sprintf("no feature %s in %s, which %s names%s", name, phrase.Count(d.records, "record"), which(k), phrase.DidYouMean(name, others)))
		}
	}
	if more := len(lacks) - most; more > 0 {
		lacks = append(lacks[:most], fmt.Sprintf("nor %d others", more))
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("tfrecord: %s; there are %s", strings.Join(lacks, "; "), listed(there)))
}

// names returns names of features of the first records, for an error.
func (d *dataset) names() (names []string) {
	const few, most = 100, 1000
	var frame []byte
	for i := range min(d.records, few) {
		d.with(&frame, i, func(example []byte) error { // a bad record has no names
			return eachEntry(example, func(name, _ []byte) error {
				if len(names) < most {
					names = append(names, string(name))
				}
				return nil
			})
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// findNames searches the first records for the features of label, ids and values. A record without them
// is bad itself, so there is no need to search more.
func (d *dataset) findNames() error {
	c := &d.config
	names, keys := []string{c.Label, c.Values, c.IDs}, []string{"label", "values", "ids"}
	if c.Dense {
		names = names[:2]
	}
	found, frame, last := make([]bool, len(names)), []byte(nil), d.head(input.SharedBytes)
	err := d.search(found, 0, last, func(i int) error {
		return d.with(&frame, i, func(example []byte) error {
			w, err := find(example, c)
			if err != nil {
				return err
			}
			for k, feature := range [][]byte{w.label, w.values, w.ids}[:len(found)] {
				found[k] = found[k] || feature != nil
			}
			return nil
		})
	})
	if err != nil || last < d.records || !slices.Contains(found, false) {
		return err
	}
	return d.absent(names, found, func(k int) string { return "input.train." + keys[k] })
}

// searchNames searches records [from, to) for the features of the columns.
func (s *columnSet) searchNames(found []bool, from, to int) error {
	r := s.newReader()
	return s.search(found, from, to, func(i int) error {
		return s.with(&r.frame, i, func(example []byte) error {
			if err := s.fill(r, example); err != nil {
				return err
			}
			for k := range found {
				found[k] = found[k] || r.seen[k]
			}
			return nil
		})
	})
}

// findColumns searches the records for the features of the columns. With Share it leaves all but the
// first to the ranks together.
func (s *columnSet) findColumns() error {
	found := make([]bool, len(s.kinds))
	if s.searched = s.records; s.columns.Share {
		s.searched = s.head(input.SharedBytes)
	}
	if err := s.searchNames(found, 0, s.searched); err != nil {
		return err
	}
	if s.searched < s.records && slices.Contains(found, false) {
		s.found = found
		return nil
	}
	return s.checkFound(found)
}

// checkFound returns an error unless all features of the columns are found.
func (s *columnSet) checkFound(found []bool) error {
	if !slices.Contains(found, false) {
		return nil
	}
	return s.absent(s.columns.Plan.Inputs, found, func(int) string { return "input.columns" })
}

// Counted reports whether no feature is left to be found: see input.Shared.
func (s *columnSet) Counted() bool { return s.found == nil }

// Bytes returns the size of all files, as they lie on disk.
func (s *columnSet) Bytes() (n int64) {
	for _, f := range s.files {
		n += f.disk
	}
	return n
}

// Sample returns a checksum of the lengths of all records.
func (s *columnSet) Sample() (sum uint32, err error) {
	for _, f := range s.files {
		for _, at := range f.starts {
			sum = crc32.Update(sum, crc32.IEEETable, binary.LittleEndian.AppendUint64(nil, uint64(at)))
		}
	}
	return sum, nil
}

// CountShare searches a part of the records for the features that are not found yet. It appends a byte
// for each column: 1 for one that is found.
func (s *columnSet) CountShare(dst []byte, part, parts int) ([]byte, error) {
	found := slices.Clone(s.found)
	from, to := input.Share(s.records-s.searched, part, parts)
	if err := s.searchNames(found, s.searched+from, s.searched+to); err != nil {
		return dst, err
	}
	for _, is := range found {
		b := byte(0)
		if is {
			b = 1
		}
		dst = append(dst, b)
	}
	return dst, nil
}

// JoinCounts takes what all parts have found.
func (s *columnSet) JoinCounts(parts [][]byte) error {
	for i, part := range parts {
		if len(part) != len(s.found) {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("tfrecord: part %d of %d found %d columns, want %d", i, len(parts), len(part), len(s.found)))
		}
		for k, is := range part {
			s.found[k] = s.found[k] || is != 0
		}
	}
	if err := s.checkFound(s.found); err != nil {
		return err
	}
	s.found = nil
	return nil
}

// Manifest returns a line a file. It lacks the records until no feature is left to be found.
func (s *columnSet) Manifest() []string {
	lines := s.dataset.Manifest()
	for i, f := range s.files {
		if !s.Counted() {
			lines[i] = f.base()
		}
	}
	return lines
}
