package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const tablesJob = `
name: clicks
model: {kind: %s, features: %d%s}
input: {train: {format: libsvm, files: [train.txt]}, batch: 200}
loss: {kind: sigmoid}
optimizer: {name: adagrad, learning_rate: 0.1}
schedule: {kind: constant}
train: {steps: 20, seed: 5}
log: {every: 1}
`

// hostLoss bounds the relative difference of a step's loss from that of one rank.
const hostLoss = 1e-6

// TestTablesOnHosts trains models with tables on four hosts. It verifies that a table
// with few rows per step is exchanged by rows and another one densely, that each run
// reports the choice and repeats to the bit, and that the losses are within hostLoss.
func TestTablesOnHosts(t *testing.T) {
	hosts, layouts := newHosts(t, 4, ""), [][]int{{0, 0, 1, 1, 2, 2, 3, 3}, fourHosts}
	if short(t) {
		layouts = layouts[1:]
	}
	for kind, more := range map[string]string{"sparse-linear": "", "deepfm": ", embedding: 4, hidden: [8]"} {
		for way, features := range map[string]int{"rows": 200_000, "dense": 60} {
			t.Run(fmt.Sprintf("model=%s/way=%s", kind, way), func(t *testing.T) {
				b := newBox(t)
				b.write("train.txt", drawnClicks(4000, features))
				b.write("job.yaml", fmt.Sprintf(tablesJob, kind, features, more))
				want := b.must(0, "train", "job.yaml", "--json").losses(t)
				for _, layout := range layouts {
					e := b.startOnHosts(hosts, layout, "job.yaml", "--json").trained()
					again := b.startOnHosts(hosts, layout, "job.yaml", "--json").trained()
					if d := e.decision(t, "tables"); d.text("choice") != way || d.text("why") == "" {
						t.Errorf("decision %v, want tables to go by %s, and why", d, way)
					}
					if e.digest(t) != again.digest(t) || !slices.Equal(e.losses(t), again.losses(t)) {
						t.Errorf("hosts %v: digest %s and again %s, losses %v and again %v", layout, e.digest(t), again.digest(t), e.losses(t), again.losses(t))
					}
					wantLosses(t, e.losses(t), want)
				}
			})
		}
	}
}

// wantLosses compares the losses of the steps with those of one rank.
func wantLosses(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(want) != 20 {
		t.Fatalf("%d losses, want %d, of 20 steps", len(got), len(want))
	}
	worst := 0.0
	for i := range want {
		worst = max(worst, math.Abs(got[i]-want[i])/want[i])
	}
	t.Logf("losses differ from one rank's by %.1e at most", worst)
	if !(worst <= hostLoss) {
		t.Errorf("losses are\n%v\none rank's\n%v\nthey differ by %g, want %g at most", got, want, worst, hostLoss)
	}
}

// losses returns the losses of the step events.
func (e ended) losses(t *testing.T) []float64 {
	t.Helper()
	var all []float64
	for _, v := range e.events(t) {
		if v.name() == "step" {
			all = append(all, v.num("loss"))
		}
	}
	return all
}

// drawnClicks returns records of ten ids each, mostly small ones, as lines of LibSVM.
// The label is 1 if many of the ids are even, else 0.
func drawnClicks(n, features int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range n {
		ids, even := map[int]bool{}, 0
		for len(ids) < 10 {
			id := int(float64(features) * math.Pow(r.Float64(), 3))
			if !ids[id] {
				ids[id], even = true, even+1-id%2
			}
		}
		label := 0
		if even > 5 || even == 5 && r.IntN(2) == 0 {
			label = 1
		}
		text.WriteString(strconv.Itoa(label))
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			fmt.Fprintf(&text, " %d:1", id)
		}
		text.WriteByte('\n')
	}
	return text.String()
}
