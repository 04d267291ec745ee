package synth

import (
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"ringtrain/input"
)

func smallLog() ClickLog {
	return ClickLog{Seed: 1, Rows: 500, IDs: 1000, Fields: 10, Interactions: true}
}

// rows is the records of a drawn log as a data set.
type rows struct{ *Drawn }

func (r rows) Facts() input.Facts { return input.Facts{Records: r.Rows} }
func (r rows) Close() error       { return nil }

func (r rows) Append(b *input.Batch, records ...int) error {
	x := b.Bags(1)
	for _, i := range records {
		var label uint8
		x.Slot, label, _ = r.AppendRow(x.Slot, i)
		for range r.Fields {
			x.Weights = append(x.Weights, 1)
		}
		x.End()
		b.Y = append(b.Y, float32(label))
	}
	return nil
}

// TestClickLogGolden verifies that a click log has the same bits on every platform
// and in every release.
func TestClickLogGolden(t *testing.T) {
	linear, spread, large := smallLog(), smallLog(), smallLog()
	linear.Interactions, spread.Spread, large.IDs, large.Fields = false, 100, 50_000_000, 39
	for _, tt := range []struct {
		name  string
		log   ClickLog
		split Split
		want  string
	}{
		{"interactions", smallLog(), Train, "d8dd4b3e90717af4"},
		{"eval", smallLog(), Eval, "136441d3ea5d0513"},
		{"linear", linear, Train, "8b45cfb0b061cdfe"},
		{"spread", spread, Train, "562c910e44314684"},
		{"large", large, Train, "18598d27aec96a9d"},
	} {
		if got := digest(t, rows{tt.log.Draw(tt.split)}); got != tt.want {
			t.Errorf("%s: digest %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestClickLogRecords verifies that a record has one id of each field, that record i
// does not depend on the number of records, and that Spread changes only ids.
func TestClickLogRecords(t *testing.T) {
	log := smallLog()
	more, spread := log, log
	more.Rows, spread.Spread = 5000, 7
	a, b, c := all(t, rows{log.Draw(Train)}), all(t, rows{more.Draw(Train)}), all(t, rows{spread.Draw(Train)})
	n := len(a.X.Bags.Slot)
	if n != log.Rows*log.Fields || !slices.Equal(a.X.Bags.Slot, b.X.Bags.Slot[:n]) || !slices.Equal(a.Y, b.Y[:log.Rows]) {
		t.Error("500 records are not the first 500 of 5000")
	}
	if !slices.Equal(a.Y, c.Y) {
		t.Error("labels depend on Spread")
	}
	starts := append(log.FieldStarts(), uint32(log.IDs))
	for i, id := range a.X.Bags.Slot {
		if f := i % log.Fields; id < starts[f] || id >= starts[f+1] || c.X.Bags.Slot[i] != 7*id {
			t.Fatalf("place %d: id %d, spread %d; want one in [%d, %d) and its sevenfold", i, id, c.X.Bags.Slot[i], starts[f], starts[f+1])
		}
	}
}

// TestClickLogFields verifies the sizes of fields and the frequency of their first ids.
func TestClickLogFields(t *testing.T) {
	for _, tt := range []struct{ ids, fields int }{{1, 1}, {10, 10}, {100, 5}, {1000, 39}, {1e6, 39}, {5e7, 39}} {
		sizes := ClickLog{IDs: tt.ids, Fields: tt.fields}.fieldSizes()
		sum := 0
		for _, n := range sizes {
			sum += n
		}
		if sum != tt.ids || slices.Min(sizes) < min(leastFieldIDs, tt.ids/tt.fields) {
			t.Errorf("%d ids in %d fields: sizes %v", tt.ids, tt.fields, sizes)
		}
	}
	log := ClickLog{Seed: 2, Rows: 20000, IDs: 100000, Fields: 2}
	b := all(t, rows{log.Draw(Train)})
	start, n := float64(log.FieldStarts()[1]), float64(log.fieldSizes()[1])
	for _, first := range []float64{1, 10, 1000} {
		count := 0.0
		for i := 1; i < len(b.X.Bags.Slot); i += 2 {
			if float64(b.X.Bags.Slot[i])-start < first {
				count++
			}
		}
		if got, want := count/float64(log.Rows), math.Pow(first/n, 0.25); math.Abs(got-want) > 0.02 {
			t.Errorf("the first %g ids have the share %.3f, want %.3f", first, got, want)
		}
	}
}

// aucOf returns the share of pairs with different labels in the order of their scores.
func aucOf(scores []float64, labels []uint8) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return scores[order[i]] < scores[order[j]] })
	rank, ones := 0, 0
	for place, i := range order {
		rank += int(labels[i]) * (place + 1)
		ones += int(labels[i])
	}
	return float64(rank-ones*(ones+1)/2) / float64(ones*(len(scores)-ones))
}

// TestClickLogHiddenModel verifies, over seeds and sizes, the share of clicks, that
// labels follow the hidden probabilities, that the hidden model ranks well, and that its
// linear part, the best that a linear model can learn, ranks far worse.
func TestClickLogHiddenModel(t *testing.T) {
	for seed := range uint64(8) {
		for _, ids := range []int{500, 100000} {
			log := ClickLog{Seed: seed, Rows: 8000, IDs: ids, Fields: 24, Interactions: true}
			d := log.Draw(Eval)
			var row []uint32
			var labels []uint8
			var full, linear []float64
			ones, expected := 0.0, 0.0
			for i := range log.Rows {
				var label uint8
				var p float64
				row, label, p = d.AppendRow(row[:0], i)
				labels, full, linear = append(labels, label), append(full, p), append(linear, d.model.linear(row))
				ones += float64(label) / float64(log.Rows)
				expected += p / float64(log.Rows)
			}
			best, without := aucOf(full, labels), aucOf(linear, labels)
			if math.Abs(ones-expected) > 0.02 || ones < 0.20 || ones > 0.33 {
				t.Errorf("seed=%d ids=%d: %.3f clicks, %.3f expected", seed, ids, ones, expected)
			}
			if best < 0.77 || best > 0.86 || without > best-0.08 || without < 0.62 {
				t.Errorf("seed=%d ids=%d: AUC %.3f, of the linear part %.3f", seed, ids, best, without)
			}
		}
	}
}

// TestClickLogCheck verifies that Check returns all errors at once.
func TestClickLogCheck(t *testing.T) {
	err := ClickLog{Fields: 2000, IDs: 10, Spread: -1}.Check()
	for _, want := range []string{"--rows is 0", "--fields is 2000", "--ids is 10, want 2000 or more", "--spread is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	if err := (ClickLog{Rows: 1, Fields: 39, IDs: 500000, Spread: 5000}).Check(); err == nil {
		t.Error("ids beyond 2³¹ are taken")
	}
}

// TestClickLogAllocatesNothing verifies that drawing a record allocates nothing.
func TestClickLogAllocatesNothing(t *testing.T) {
	d := smallLog().Draw(Train)
	var ids []uint32
	read := func() {
		ids = ids[:0]
		for i := range 20 {
			ids, _, _ = d.AppendRow(ids, i)
		}
	}
	read()
	if got := testing.AllocsPerRun(100, read); got != 0 {
		t.Errorf("%g allocations a batch, want 0", got)
	}
}

func BenchmarkClickLog(b *testing.B) {
	d := ClickLog{Seed: 1, Rows: 1 << 20, IDs: 1e6, Fields: 39, Interactions: true}.Draw(Train)
	var ids []uint32
	for i := 0; b.Loop(); i++ {
		ids, _, _ = d.AppendRow(ids[:0], i%(1<<20))
	}
}
