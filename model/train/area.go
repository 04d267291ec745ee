package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// areaBytes bounds what a rank has of all ranks' scores at a time. With the scores of its own
// examples, 4 bytes each, that is what the area under the curve takes.
const areaBytes = 4 << 20

// A rank sends its lowest scores that were not counted yet, by ascending score, little-endian:
//
//	0         4               8               12
//	┌─────────┬───────────────┬───────────────┬───
//	│ key u32 │ positives u32 │ negatives u32 │ …
//	└─────────┴───────────────┴───────────────┴───
const tieBytes = 12

// areaUnderCurve returns the exact area under the ROC curve of the examples of all ranks, NaN
// with one class only. It is a collective operation and empties r.
//
// In each round every rank sends as many of its lowest scores as fit. Up to the least of the
// last scores of the ranks that may have more, the round knows all: those are counted. A rank
// whose last score is the least is done with all that it sent, so the rounds end.
func areaUnderCurve(ctx context.Context, g *ring.Group, r *model.Ranking) (float64, error) {
	size := g.Membership().Size()
	most := max(areaBytes/tieBytes/size, 1)
	m := merger{most: most, ranks: make([][]byte, size)}
	r.Sort()
	var ties []model.Tie
	var mine []byte
	var all ring.Gathered
	for {
		ties, mine = r.AppendTies(ties[:0], most), mine[:0]
		for _, t := range ties {
			mine = binary.LittleEndian.AppendUint32(mine, t.Key)
			mine = binary.LittleEndian.AppendUint32(mine, t.Positives)
			mine = binary.LittleEndian.AppendUint32(mine, t.Negatives)
		}
		if err := g.AllGather(ctx, mine, &all); err != nil {
			return 0, err
		}
		for rank := range size {
			m.ranks[rank] = all.At(rank)
		}
		counted, more, err := m.round()
		if err != nil {
			return 0, exitcode.With(exitcode.Protocol, err)
		}
		if !more {
			return m.area.Value(), nil
		}
		r.Drop(counted)
	}
}

// merger counts the scores of all ranks by ascending score.
type merger struct {
	most  int // ties that a rank sends at most
	ranks [][]byte
	ties  []model.Tie // of this round
	area  model.Area
	next  uint64 // the lowest score that may come yet
}

// round counts what the ranks have sent, up to the score counted. more says whether a rank may
// have further scores.
func (m *merger) round() (counted uint32, more bool, err error) {
	counted = math.MaxUint32
	for rank, b := range m.ranks {
		last, err := m.check(b)
		if err != nil {
			return 0, false, fmt.Errorf("rank %d sent %w", rank, err)
		}
		if len(b) == m.most*tieBytes {
			counted, more = min(counted, last), true
		}
	}
	m.ties = m.ties[:0]
	for _, b := range m.ranks {
		m.ties = appendTies(m.ties, b, counted)
	}
	slices.SortFunc(m.ties, func(a, b model.Tie) int { return cmp.Compare(a.Key, b.Key) })
	for i := 0; i < len(m.ties); {
		var positives, negatives uint64
		key := m.ties[i].Key
		for ; i < len(m.ties) && m.ties[i].Key == key; i++ {
			positives += uint64(m.ties[i].Positives)
			negatives += uint64(m.ties[i].Negatives)
		}
		m.area.Add(positives, negatives)
	}
	m.next = uint64(counted) + 1
	return counted, more, nil
}

// appendTies appends what a rank has sent up to a score.
func appendTies(dst []model.Tie, b []byte, upTo uint32) []model.Tie {
	le := binary.LittleEndian
	for ; len(b) > 0 && le.Uint32(b) <= upTo; b = b[tieBytes:] {
		dst = append(dst, model.Tie{Key: le.Uint32(b), Positives: le.Uint32(b[4:]), Negatives: le.Uint32(b[8:])})
	}
	return dst
}

// check returns the last score of what a rank has sent.
func (m *merger) check(b []byte) (last uint32, err error) {
	if len(b)%tieBytes != 0 || len(b) > m.most*tieBytes {
		return 0, fmt.Errorf("%d bytes of scores, want %d for each of at most %d", len(b), tieBytes, m.most)
	}
	next := m.next
	for ; len(b) > 0; b = b[tieBytes:] {
		last = binary.LittleEndian.Uint32(b)
		if uint64(last) < next {
			return 0, fmt.Errorf("score %#x after %#x, want ascending ones", last, next-1)
		}
		next = uint64(last) + 1
	}
	return last, nil
}
