package evaluate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// areaBytes bounds the scores of all ranks that a rank holds at a time. In addition a rank holds the
// scores of its own examples: 4 bytes each, or 8 with weights.
const areaBytes = 512 << 10

// A rank sends its lowest uncounted scores in ascending order, little-endian. Examples with weights
// have sums of integer weights before their numbers:
//
//	0         4               8               12
//	┌─────────┬───────────────┬───────────────┬───
//	│ key u32 │ positives u32 │ negatives u32 │ …
//	└─────────┴───────────────┴───────────────┴───
//	0         4                 44                84              88              92
//	┌─────────┬─────────────────┬─────────────────┬───────────────┬───────────────┬───
//	│ key u32 │ positives 40 B  │ negatives 40 B  │ positives u32 │ negatives u32 │ …   sums: highest byte first
//	└─────────┴─────────────────┴─────────────────┴───────────────┴───────────────┴───
const (
	tieBytes      = 12
	weightedBytes = tieBytes + 2*sumBytes
)

// scores are the examples of a rank, in ascending order of their scores.
type scores interface {
	// appendTies appends at most most of the lowest scores in the form of a message.
	appendTies(dst []byte, most int) []byte

	// drop removes the scores up to and including key.
	drop(key uint32)
}

// plain is a sorted Ranking of examples without weights.
type plain struct {
	ranking *model.Ranking
	ties    []model.Tie
}

func (p *plain) drop(key uint32) { p.ranking.Drop(key) }

func (p *plain) appendTies(dst []byte, most int) []byte {
	p.ties = p.ranking.AppendTies(p.ties[:0], most)
	for _, t := range p.ties {
		dst = appendNumbers(binary.LittleEndian.AppendUint32(dst, t.Key), t.Positives, t.Negatives)
	}
	return dst
}

func appendNumbers(dst []byte, positives, negatives uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, positives), negatives)
}

// AreaUnderCurve returns the exact area under the ROC curve of the examples of all ranks, NaN if they
// have one class only. It is a collective operation and empties r.
func AreaUnderCurve(ctx context.Context, g *ring.Group, r *model.Ranking) (float64, error) {
	r.Sort()
	m := merger{tie: tieBytes, area: new(plainArea)}
	if err := m.count(ctx, g, &plain{ranking: r}); err != nil {
		return 0, err
	}
	return m.area.value(), nil
}

// area accumulates the examples of one score after the other, in ascending order of the scores.
type area interface {
	add(counts []byte) // what a rank has sent of the current score, without the key
	end()              // of the current score
	value() float64    // of the area, NaN if the examples have one class only

	// outcome is that of a threshold between the scores that have ended and the others. improve reports whether its
	// F1 is better than at each call before, and than 0. Both need the number of all examples.
	outcome() outcome
	improve() bool
}

// numbers are those of positive and negative examples.
type numbers struct{ positives, negatives uint64 }

func (n *numbers) add(o numbers) {
	n.positives += o.positives
	n.negatives += o.negatives
}

// above returns the numbers of the examples that are in n and not in o.
func (n numbers) above(o numbers) numbers {
	return numbers{n.positives - o.positives, n.negatives - o.negatives}
}

// addSent adds the numbers of a message.
func (n *numbers) addSent(counts []byte) {
	n.add(numbers{uint64(binary.LittleEndian.Uint32(counts)), uint64(binary.LittleEndian.Uint32(counts[4:]))})
}

// plainArea is the area of examples without weights.
type plainArea struct {
	model.Area
	all             numbers // of examples; only outcome and improve need it
	ended, current  numbers
	hits, predicted uint64 // of the best F1: 2·hits / (predicted + all positives)
}

func (a *plainArea) add(counts []byte) { a.current.addSent(counts) }

func (a *plainArea) end() {
	a.Add(a.current.positives, a.current.negatives)
	a.ended.add(a.current)
	a.current = numbers{}
}

func (a *plainArea) value() float64 { return a.Value() }

func (a *plainArea) outcome() outcome {
	above := a.all.above(a.ended)
	return outcome{
		hits: float64(above.positives), alarms: float64(above.negatives), positives: float64(a.all.positives), negatives: float64(a.all.negatives),
		hitRecords: int64(above.positives), alarmRecords: int64(above.negatives),
	}
}

func (a *plainArea) improve() bool {
	above := a.all.above(a.ended)
	predicted := above.positives + above.negatives
	high, low := bits.Mul64(above.positives, a.predicted+a.all.positives)
	high2, low2 := bits.Mul64(a.hits, predicted+a.all.positives)
	if high < high2 || high == high2 && low <= low2 {
		return false
	}
	a.hits, a.predicted = above.positives, predicted
	return true
}

// count counts the scores of all ranks; mine are those of this rank. It is a collective operation.
//
// In each round every rank sends as many of its lowest scores as fit. Take the last scores of the ranks
// that may have more: up to the least of these the round knows all scores, and counts them. The rank
// with this least score has then counted everything it sent, so the rounds end.
func (m *merger) count(ctx context.Context, g *ring.Group, mine scores) error {
	size := g.Membership().Size()
	m.most, m.ranks = max(areaBytes/m.tie/size, 1), make([][]byte, size)
	var sent []byte
	var all ring.Gathered
	for {
		sent = mine.appendTies(sent[:0], m.most)
		if err := g.AllGather(ctx, sent, &all); err != nil {
			return err
		}
		for rank := range size {
			m.ranks[rank] = all.At(rank)
		}
		counted, more, err := m.round()
		if err != nil {
			return exitcode.With(exitcode.Protocol, err)
		}
		if !more {
			return nil
		}
		mine.drop(counted)
	}
}

// merger counts the scores of all ranks in ascending order.
type merger struct {
	most  int // maximum number of ties in a message
	tie   int // bytes of a tie
	ranks [][]byte
	heap  []tieRun // of the ranks with scores to count in this round; the lowest is first
	area  area
	at    *thresholds // that are found on the way; nil: none
	next  uint64      // least score that may still arrive
}

// round counts the scores that the ranks sent, up to the score counted. More reports whether a rank
// may have further scores.
func (m *merger) round() (counted uint32, more bool, err error) {
	counted = math.MaxUint32
	for rank, b := range m.ranks {
		last, err := m.check(b)
		if err != nil {
			return 0, false, fmt.Errorf("rank %d sent %w", rank, err)
		}
		if len(b) == m.most*m.tie {
			counted, more = min(counted, last), true
		}
	}
	m.startRound(counted)
	for len(m.heap) > 0 {
		if m.at != nil {
			m.at.below(float64(model.RankScore(m.heap[0].key())), m.area)
		}
		for key := m.heap[0].key(); len(m.heap) > 0 && m.heap[0].key() == key; m.advance(counted) {
			m.area.add(m.heap[0][4:m.tie])
		}
		m.area.end()
	}
	if m.at != nil && !more {
		m.at.upTo(math.Inf(1), m.area)
	}
	m.next = uint64(counted) + 1
	return counted, more, nil
}

// tieRun is the uncounted rest of the scores that a rank sent.
type tieRun []byte

func (t tieRun) key() uint32 { return binary.LittleEndian.Uint32(t) }

// startRound builds the heap of the ranks that have scores up to counted.
func (m *merger) startRound(counted uint32) {
	m.heap = m.heap[:0]
	for _, b := range m.ranks {
		if len(b) > 0 && tieRun(b).key() <= counted {
			m.heap = append(m.heap, b)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// advance removes the lowest score.
func (m *merger) advance(counted uint32) {
	m.heap[0] = m.heap[0][m.tie:]
	if len(m.heap[0]) == 0 || m.heap[0].key() > counted {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.sink(0)
}

// sink moves element i down the heap to its place.
func (m *merger) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.heap[child+1].key() < m.heap[child].key() {
			child++
		}
		if m.heap[i].key() <= m.heap[child].key() {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}

// check returns the last score of a rank's message.
func (m *merger) check(b []byte) (last uint32, err error) {
	if len(b)%m.tie != 0 || len(b) > m.most*m.tie {
		return 0, fmt.Errorf("%d bytes of scores, want %d for each of at most %d", len(b), m.tie, m.most)
	}
	next := m.next
	for ; len(b) > 0; b = b[m.tie:] {
		last = binary.LittleEndian.Uint32(b)
		if uint64(last) < next {
			return 0, fmt.Errorf("score %#x after %#x, want ascending ones", last, next-1)
		}
		next = uint64(last) + 1
	}
	return last, nil
}
