package text

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

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
	return len(heads) > 0 && !slices.ContainsFunc(heads, func(t *stretch) bool {
		return t.tallies[0].long < 0 && slices.Max(t.tallies[0].counts) == 0 // of a line that is too long, join returns the error
	})
}

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
func (s *Set) CountShare(ctx context.Context, dst []byte, part, parts int) ([]byte, error) {
	mine := share(s.stretches(), part, parts)
	if err := s.countAll(ctx, mine); err != nil {
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
			if b = t.decode(b); b == nil {
				return exitcode.With(exitcode.Protocol, fmt.Errorf("%s: counts of part %d of %d have a place that is none", s.config.Format, i, len(parts)))
			}
		}
		if len(b) > 0 {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("%s: counts of part %d of %d are %d bytes too long", s.config.Format, i, len(parts), len(b)))
		}
	}
	if err := s.join(all, nil); err != nil {
		return err
	}
	s.Forget() // the blocks in memory were checked against the counts of this process
	s.joined = true
	return nil
}

// The tallies of a stretch are sent as follows, little-endian. The places are there with quotes alone:
//
//	0               8              16          24      25
//	┌───────────────┬──────────────┬───────────┬───────┬────────────┬───────────┐
//	│ first end i64 │ last end i64 │ long  i64 │ end u8│ counts u16 │ places u8 │
//	└───────────────┴──────────────┴───────────┴───────┴────────────┴───────────┘
const tallyHead = 25

// encodedBytes returns the length of what encode appends.
func (s *stretch) encodedBytes() int {
	y := &s.tallies[0]
	return len(s.tallies) * (tallyHead + 2*len(y.counts) + len(y.places))
}

func (s *stretch) encode(dst []byte) []byte {
	le := binary.LittleEndian
	for _, y := range s.tallies {
		for _, v := range []int64{y.firstEnd, y.lastEnd, y.long} {
			dst = le.AppendUint64(dst, uint64(v))
		}
		dst = append(dst, byte(y.end))
		for _, n := range y.counts {
			dst = le.AppendUint16(dst, n)
		}
		for _, p := range y.places {
			dst = append(dst, byte(p))
		}
	}
	return dst
}

// decode sets s to what encode appended, of a stretch of the same blocks, and returns the rest of
// b. It returns nil if b has a place that is none.
func (s *stretch) decode(b []byte) (rest []byte) {
	le := binary.LittleEndian
	for k := range s.tallies {
		y := &s.tallies[k]
		for i, v := range []*int64{&y.firstEnd, &y.lastEnd, &y.long} {
			*v = int64(le.Uint64(b[8*i:]))
		}
		y.end, b = place(b[24]), b[tallyHead:]
		for i := range y.counts {
			y.counts[i], b = le.Uint16(b), b[2:]
		}
		for i := range y.places {
			y.places[i], b = place(b[0]), b[1:]
		}
		if slices.ContainsFunc(append(y.places, y.end), func(p place) bool { return p&^fresh >= places }) {
			return nil
		}
	}
	return b
}
