package savedmodel

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/model/graph"
)

// columnsGraph returns the small binary model with columns of these names.
func columnsGraph(names ...string) *graph.Graph {
	g := *graphs()["linear-sigmoid"]
	g.Columns = new(graph.Columns)
	for _, n := range names {
		g.Columns.Dense = append(g.Columns.Dense, graph.DenseColumn{Name: n, Scale: 1})
	}
	return &g
}

// textColumn is columnsGraph with a text of the second name in place of a number.
func textColumn(number, text string) *graph.Graph {
	g := columnsGraph(number)
	g.Columns.Keys = []string{text}
	return g
}

// TestOther verifies what is told of a newest version that another job wrote, or that has other inputs
// or classes, with both sides; and that nothing is told of the same, of an older version, of a version
// without a job's name, and of a folder without a version or with one that cannot be read.
func TestOther(t *testing.T) {
	ids, classes := DefaultNames(), *graphs()["softmax"]
	ids.IDs = "clicks"
	turned := classes
	classes.Head.Labels, turned.Head.Labels = []string{"a", "b", "c"}, []string{"2", "1", "0"}
	for _, tt := range []struct {
		name     string
		was, now *graph.Graph
		names    Names
		job      string // of was
		want     string
	}{
		{"same", softmax(), softmax(), DefaultNames(), "tab", ""},
		{"same columns", columnsGraph("a", "b", "c"), columnsGraph("a", "b", "c"), DefaultNames(), "tab", ""},
		{"same columns in another order", columnsGraph("a", "b", "c"), columnsGraph("c", "a", "b"), DefaultNames(), "tab", ""},
		{"older bundle", softmax(), softmax(), DefaultNames(), "", ""},
		{"job", softmax(), softmax(), DefaultNames(), "ads", "another job's name: ads there, tab here"},
		{"columns", columnsGraph("a", "b", "c"), columnsGraph("a", "x", "c"), DefaultNames(), "tab", "other inputs: b float there, x float here"},
		{"kind of a column", columnsGraph("a", "b"), textColumn("a", "b"), DefaultNames(), "tab", "other inputs: b float there, b string here"},
		{"more columns", columnsGraph("a", "b", "c"), columnsGraph("a", "b", "c", "d", "e", "f", "g"), DefaultNames(), "tab", "other inputs: not there, d float, e float, f float, … here"},
		{"feature of ids", graphs()["sparse-linear"], graphs()["sparse-linear"], ids, "tab", "other inputs: ids int64 there, clicks int64 here"},
		{"width", graphs()["linear"], graphs()["linear-sigmoid"], DefaultNames(), "tab", "other inputs: x float[2] there, x float[3] here; other classes: not there, 0, 1 here"},
		{"class names", softmax(), &classes, DefaultNames(), "tab", "other classes: 0, 1, 2 there, a, b, c here"},
		{"fewer columns", columnsGraph("a", "b"), columnsGraph("a"), DefaultNames(), "tab", "other inputs: b float there, not here"},
		{"order of classes", softmax(), &turned, DefaultNames(), "tab", "other classes: 0, 1, 2 there, 2, 1, 0 here"},
		{"kind", softmax(), graphs()["sparse-linear"], DefaultNames(), "ads", "another job's name: ads there, tab here; other inputs: x float[4] there, ids int64, values float here; other classes: 2 there, not here"},
	} {
		base := filepath.Join(t.TempDir(), "export")
		if got := Other(base, tt.now, Trained{Job: "tab", Names: tt.names}); got != "" {
			t.Errorf("%s: %q of no version", tt.name, got)
		}
		for _, version := range []struct {
			g   *graph.Graph
			job string
		}{{graphs()["mlp"], "older"}, {tt.was, tt.job}} {
			written := trained(version.g)
			written.Job = version.job
			if _, err := Write(testDisk(), base, version.g, written, nil); err != nil {
				t.Fatal(err)
			}
		}
		want := tt.want
		if want != "" {
			want = "the newest version, " + filepath.Join(base, "2") + ", has " + want
		}
		if got := Other(base, tt.now, Trained{Job: "tab", Names: tt.names}); got != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
		if err := os.WriteFile(filepath.Join(base, "2", modelFile), []byte("no model"), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := Other(base, tt.now, Trained{Job: "tab", Names: tt.names}); got != "" {
			t.Errorf("%s: %q of a version that cannot be read", tt.name, got)
		}
	}
}

// TestJobInBundle verifies that the job's name changes no other byte of a bundle.
func TestJobInBundle(t *testing.T) {
	base := t.TempDir()
	var texts [][]byte
	for _, job := range []string{"", "tab"} {
		written := trained(softmax())
		written.Job = job
		path, err := Write(testDisk(), base, softmax(), written, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(path, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if len(texts[1]) != len(texts[0])+len("tab")+2 || slices.Equal(texts[0], texts[1]) {
		t.Errorf("with a name saved_model.pb has %d bytes, without %d", len(texts[1]), len(texts[0]))
	}
}
