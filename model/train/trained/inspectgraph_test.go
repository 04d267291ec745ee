package trained

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// TestStoredGraph verifies that a checkpoint's job file and shape determine its graph, and that
// incomplete data is no error, but a job file that is no YAML, or nested too deep for its parser, is.
func TestStoredGraph(t *testing.T) {
	cfg := job.Default()
	cfg.Model = model.Config{Kind: "lenet", Classes: model.Count(10)}
	file, err := cfg.File()
	if err != nil {
		t.Fatal(err)
	}
	g, err := storedGraph("ckpt", &checkpoint.Run{JobFile: string(file), Shape: []int{28, 28, 1}})
	if g == nil || err != nil {
		t.Fatalf("no graph, %v", err)
	}
	list := describeGraph(g)
	want := NodeInfo{"conv_2", "conv2d", []string{"pool_1"}, []int{10, 10, 16}, 5*5*6*16 + 16, 10 * 10 * 16 * (2*5*5*6 + 1)}
	if !slices.ContainsFunc(list, func(e report.Event) bool { return cmp.Equal(e, report.Event(want)) }) {
		t.Errorf("nodes are %v, want %v among them", list, want)
	}
	for _, run := range []checkpoint.Run{{Shape: []int{1}}, {JobFile: "model: {kind: nope}", Shape: []int{1}}, {JobFile: string(file)}} {
		if g, err := storedGraph("ckpt", &run); g != nil || err != nil {
			t.Errorf("%+v gives the graph %v, %v, want none", run, g, err)
		}
	}
	for text, want := range map[string]string{"model: [": "ckpt: job file:1:8: ", "model: " + strings.Repeat("[", 9999): "ckpt: job file:1:71: nested deeper than 64"} {
		if _, err := storedGraph("ckpt", &checkpoint.Run{JobFile: text}); exitcode.Of(err) != exitcode.BadData || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %s", text, err, want)
		}
	}
}
