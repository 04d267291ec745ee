package trained

import (
	"ringtrain/model"
	"slices"
	"testing"

	"ringtrain/model/job"

	"ringtrain/model/train/report"

	"github.com/google/go-cmp/cmp"
)

// TestStoredGraph verifies that a checkpoint's job file and shape determine its graph, and that
// incomplete data is no error.
func TestStoredGraph(t *testing.T) {
	cfg := job.Default()
	cfg.Model = model.Config{Kind: "lenet", Classes: 10}
	file, err := cfg.File()
	if err != nil {
		t.Fatal(err)
	}
	g := storedGraph(string(file), []int{28, 28, 1}, nil)
	if g == nil {
		t.Fatal("no graph")
	}
	list := describeGraph(g)
	want := NodeInfo{"conv_2", "conv2d", []string{"pool_1"}, []int{10, 10, 16}, 5*5*6*16 + 16, 10 * 10 * 16 * (2*5*5*6 + 1)}
	if !slices.ContainsFunc(list, func(e report.Event) bool { return cmp.Equal(e, report.Event(want)) }) {
		t.Errorf("nodes are %v, want %v among them", list, want)
	}
	for _, text := range []string{"", "model: {kind: nope}", "model: ["} {
		if g := storedGraph(text, []int{1}, nil); g != nil {
			t.Errorf("%q gives a graph", text)
		}
	}
	if storedGraph(string(file), nil, nil) != nil {
		t.Error("no shape gives a graph")
	}
}
