package synth

import (
	"fmt"

	"ringtrain/input"
)

// Numbers of records of a job with input.synthetic, and of features.
const (
	ClicksTrain    = 20000
	ClicksEval     = 8000
	ClicksFeatures = 124
)

// fields returns the number of values of each field of a click record. Ids count from 1
// through all fields, as in the a8a data set, so 0 never occurs.
func fields() [14]int { return [14]int{5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41} }

// clicks has records of ids, each with value 1.
type clicks struct {
	name   string
	start  []int32 // record i has ids[start[i]:start[i+1]]
	ids    []uint8
	labels []uint8
}

// Clicks returns n sparse records: for each of 14 fields the id of one of its values,
// with the value 1. One field in ten is missing. The label is 1 with the probability
// 1/(1+e^-z), where z is the sum of a hidden bias and the hidden weights of the ids,
// which depend on the seed and not on the split. About 24 % of the labels are 1. The
// hidden model has an AUC of about 0.88.
func Clicks(seed uint64, n int, split Split) input.Dataset {
	m := newHidden(seed)
	r := newSource(seed, split.stream())
	d := &clicks{name: fmt.Sprintf("synthetic-clicks-%s-seed-%d", split, seed), start: []int32{0}}
	for range n {
		d.ids = m.draw(d.ids, r)
		d.start = append(d.start, int32(len(d.ids)))
		label := uint8(0)
		if r.unit() < m.probability(d.ids[d.start[len(d.start)-2]:]) {
			label = 1
		}
		d.labels = append(d.labels, label)
	}
	return d
}

func (c *clicks) Facts() input.Facts {
	return input.Facts{
		Records: len(c.labels), Features: ClicksFeatures, InMemory: true,
		Manifest: []string{fmt.Sprintf("%s %d %d", c.name, len(c.ids)+len(c.labels), len(c.labels))},
	}
}

func (c *clicks) Close() error { return nil }

func (c *clicks) Append(b *input.Batch, records ...int) error {
	x := b.Bags(1)
	for _, i := range records {
		for _, id := range c.ids[c.start[i]:c.start[i+1]] {
			x.Add(uint32(id), 1)
		}
		x.End()
		b.Y = append(b.Y, float32(c.labels[i]))
	}
	return nil
}

// hidden is the hidden model of clicks.
type hidden struct {
	bias   float64
	weight [ClicksFeatures]float64
}

func newHidden(seed uint64) *hidden {
	m := new(hidden)
	r := newSource(seed, streamHidden)
	id, mean := 1, 0.0
	for _, size := range fields() {
		for v := range size {
			m.weight[id] = 0.75 * r.normal()
			mean += float64(0.9 * m.weight[id] * chance(v, size))
			id++
		}
	}
	m.bias = -1.8 - mean
	return m
}

// chance returns the probability of value v of a field: the minimum of two uniform
// draws, so that low values are frequent.
func chance(v, size int) float64 {
	return float64(2*(size-v)-1) / float64(size*size)
}

// draw appends the ids of one record.
func (h *hidden) draw(ids []uint8, r source) []uint8 {
	first := 1
	for _, size := range fields() {
		if v := min(r.below(size), r.below(size)); r.unit() >= 0.1 {
			ids = append(ids, uint8(first+v))
		}
		first += size
	}
	return ids
}

// probability returns the probability of a click.
func (h *hidden) probability(ids []uint8) float64 {
	z := h.bias
	for _, id := range ids {
		z += h.weight[id]
	}
	return 1 / (1 + exp(-z))
}

// exp returns e^x as (1 + x/1024)^1024, within 1 % for |x| < 4 and 7 % for |x| < 12. The
// division is exact, so it may be fused with the addition.
func exp(x float64) float64 {
	p := max(1+x/1024, 0)
	for range 10 {
		p *= p
	}
	return p
}
