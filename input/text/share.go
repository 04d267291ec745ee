package text

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// heads returns the blocks that are counted at once: the first blocks of the first file, which
// Check parses, and of each file with a header.
func (s *Set) heads() (all []*stretch) {
	counts := s.layOut()
	for _, f := range s.files {
		if n := min(f.blocks(), checkBlocks); n > 0 && (f.first == 0 || s.config.Header) {
			all = append(all, s.newStretch(f, 0, n, counts))
		}
	}
	return all
}

// allHold reports whether each of the stretches, which begin files, has a record.
func allHold(heads []*stretch) bool {
	for _, t := range heads {
		held := t.long >= 0 // join returns the error
		for _, n := range t.counts {
			held = held || n > 0
		}
		if !held {
			return false
		}
	}
	return len(heads) > 0
}

// Counted reports whether all records are counted.
func (s *Set) Counted() bool { return !s.uncounted }

const (
	sampleBytes = 4 << 10
	mostSamples = 256 // of all files
)

// Sample returns a checksum of bytes throughout the files: of pieces at equal distances.
func (s *Set) Sample() (sum uint32, err error) {
	buf := make([]byte, sampleBytes)
	for _, f := range s.files {
		if sum, err = f.sample(sum, buf, max(mostSamples/len(s.files), 1)); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// sample adds so many pieces of the file, of the length of buf, to sum.
func (f *file) sample(sum uint32, buf []byte, pieces int) (uint32, error) {
	r, err := f.open()
	if err != nil {
		return 0, err
	}
	defer f.release(r)
	distance := f.textSize/int64(pieces) + 1
	for at := int64(0); at < f.textSize; at += distance {
		p := buf[:min(int64(len(buf)), f.textSize-at)]
		if n, err := r.ReadAt(p, at); n < len(p) {
			return 0, f.readError(err)
		}
		sum = crc32.Update(sum, castagnoli, p)
	}
	return sum, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// share returns the stretches of a part.
func share(all []*stretch, part, parts int) []*stretch {
	from, to := input.Share(len(all), part, parts)
	return all[from:to]
}

// CountShare appends the counts of a part of the files to dst.
func (s *Set) CountShare(dst []byte, part, parts int) ([]byte, error) {
	mine := share(s.stretches(), part, parts)
	if err := s.countAll(mine); err != nil {
		return dst, err
	}
	for _, t := range mine {
		dst = t.encode(dst)
	}
	return dst, nil
}

// JoinCounts takes the counts of all parts, in their order.
func (s *Set) JoinCounts(parts [][]byte) error {
	all := s.stretches()
	for i, b := range parts {
		for _, t := range share(all, i, len(parts)) {
			if len(b) < t.encodedBytes() {
				return exitcode.With(exitcode.Protocol, fmt.Errorf("%s: counts of part %d of %d end early", s.config.Format, i, len(parts)))
			}
			b = t.decode(b)
		}
		if len(b) > 0 {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("%s: counts of part %d of %d are %d bytes too long", s.config.Format, i, len(parts), len(b)))
		}
	}
	if err := s.join(all); err != nil {
		return err
	}
	s.Forget() // the blocks in memory were checked against the counts of this process
	s.uncounted, s.joined = false, true
	return nil
}

// A stretch is sent as follows, little-endian. With quotes, the counts of lines that begin
// within quotes follow, and a byte for the state of each block:
//
//	0               8              16          24      25
//	┌───────────────┬──────────────┬───────────┬───────┬────────────┬────────────┬──────────┐
//	│ first end i64 │ last end i64 │ long  i64 │ odd u8│ counts u16 │ inside u16 │ state u8 │
//	└───────────────┴──────────────┴───────────┴───────┴────────────┴────────────┴──────────┘
const stretchHead = 25

// encodedBytes returns the length of what encode appends.
func (t *stretch) encodedBytes() int {
	return stretchHead + 2*len(t.counts) + 2*len(t.inside) + len(t.states)
}

func (t *stretch) encode(dst []byte) []byte {
	le := binary.LittleEndian
	for _, v := range []int64{t.firstEnd, t.lastEnd, t.long} {
		dst = le.AppendUint64(dst, uint64(v))
	}
	dst = appendBool(dst, t.odd)
	for _, counts := range [][]uint16{t.counts, t.inside} {
		for _, n := range counts {
			dst = le.AppendUint16(dst, n)
		}
	}
	for _, state := range t.states {
		dst = appendBool(dst, state)
	}
	return dst
}

// decode sets t to what encode appended, of a stretch of the same blocks, and returns the rest of
// b.
func (t *stretch) decode(b []byte) (rest []byte) {
	le := binary.LittleEndian
	for i, v := range []*int64{&t.firstEnd, &t.lastEnd, &t.long} {
		*v = int64(le.Uint64(b[8*i:]))
	}
	t.odd, b = b[24] != 0, b[stretchHead:]
	for _, counts := range [][]uint16{t.counts, t.inside} {
		for i := range counts {
			counts[i], b = le.Uint16(b), b[2:]
		}
	}
	for i := range t.states {
		t.states[i], b = b[0] != 0, b[1:]
	}
	return b
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
