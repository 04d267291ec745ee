package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

const wireJob = `
name: clicks
model: {kind: sparse-linear, features: 1000000}
input: {train: {format: libsvm, files: [clicks_train.libsvm]}, eval: {format: libsvm, files: [clicks_test.libsvm]}, batch: 4000, shuffle: false, cache: "off"}
loss: {kind: sigmoid}
optimizer: {name: adagrad, learning_rate: 0.1}
train: {epochs: 1, seed: 1}
log: {every: 1}
`

// TestTablesOverWire trains sparse-linear on click logs over four hosts, 1,000 records
// of 39 ids per host and step. It verifies that a host sends at most a tenth more than
// the reduce-scatter of its own rows and the all-gather of the union, of 8 bytes each.
// It logs the time of the exchange and the wire's time for the bytes. The median is over a
// hundred steps: in the first ones the ranks wait for the first records of each other.
func TestTablesOverWire(t *testing.T) {
	rows, rates := 400_000, map[string]float64{"1gbit": 125e6, "100mbit": 12.5e6}
	if short(t) {
		rows, rates = 40_000, map[string]float64{"1gbit": 125e6}
	}
	b := newBox(t)
	b.must(0, "data", "make", "clicks", "--to", ".", "--rows", strconv.Itoa(rows), "--test-rows", "100")
	b.write("job.yaml", wireJob)
	own, union := rowsOfSteps(b.read("clicks_train.libsvm"), 4000, 4)
	want := 3. / 4 * float64(own+4*union) * 8
	for rate, bytesPerS := range rates {
		t.Run("rate="+rate, func(t *testing.T) {
			e := b.startOnHosts(newHosts(t, 4, rate), fourHosts, "job.yaml", "--json").trained()
			if d := e.decision(t, "tables"); d.text("choice") != "rows" {
				t.Errorf("decision %v, want rows", d)
			}
			sent, steps := e.only(t, "done").num("sent_between_hosts_bytes"), e.exchanges(t)
			if sent > 1.1*want {
				t.Errorf("hosts send %.0f bytes, %.3f times what reduce-scatter and all-gather take, want 1.1 at most", sent, sent/want)
			}
			each := sent / 4 / float64(len(steps))
			t.Logf("%.0f bytes a host and step, %.3f of what reduce-scatter and all-gather take; exchange %.2f ms, at least %.2f ms, wire %.2f ms",
				each, sent/want, steps[len(steps)/2]*1e3, steps[0]*1e3, each/bytesPerS*1e3)
		})
	}
}

// exchanges returns the time of each step's exchange in seconds, ascending. It includes
// waits for other ranks.
func (e ended) exchanges(t *testing.T) []float64 {
	t.Helper()
	var all []float64
	for _, v := range e.events(t) {
		if v.name() == "step" {
			all = append(all, v.num("reduce_s"))
		}
	}
	slices.Sort(all)
	return all
}

// rowsOfSteps returns the numbers of distinct ids of LibSVM records over the steps: the
// sum over the ranks, and that of the whole batches.
func rowsOfSteps(text string, batch, ranks int) (own, union int) {
	mine, all := make([]map[int]bool, ranks), map[int]bool{}
	i := 0
	for line := range strings.Lines(text) {
		if i%batch == 0 {
			clear(all)
			for r := range mine {
				mine[r] = map[int]bool{}
			}
		}
		of := mine[i%batch*ranks/batch]
		for _, field := range strings.Fields(line)[1:] {
			id, _ := strconv.Atoi(strings.TrimSuffix(field, ":1"))
			if !all[id] {
				all[id], union = true, union+1
			}
			if !of[id] {
				of[id], own = true, own+1
			}
		}
		i++
	}
	return own, union
}
