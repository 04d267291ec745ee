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

// TestOther verifies what is told of a newest version that another job wrote, or that has other inputs
// or classes, with both sides; and that nothing is told of the same, of an older version, of a version
// without a job's name, and of a folder without a version or with one that cannot be read.
func TestOther(t *testing.T) {
	ids, classes := DefaultNames(), *graphs()["softmax"]
	ids.IDs = "clicks"
	classes.Head.Labels = []string{"a", "b", "c"}
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
		{"job", softmax(), softmax(), DefaultNames(), "ads", "the job ads, this one is tab"},
		{"columns", columnsGraph("a", "b", "c"), columnsGraph("a", "x", "c"), DefaultNames(), "tab", "the inputs b, this job has x"},
		{"more columns", columnsGraph("a", "b", "c"), columnsGraph("a", "b", "c", "d", "e", "f", "g"), DefaultNames(), "tab", "the inputs a, b, c, this job has d, e, f and 1 more"},
		{"feature of ids", graphs()["sparse-linear"], graphs()["sparse-linear"], ids, "tab", "the inputs ids, this job has clicks"},
		{"width", graphs()["linear"], graphs()["linear-sigmoid"], DefaultNames(), "tab", "the inputs x[2], this job has x[3]; the classes none, this job has 0, 1"},
		{"class names", softmax(), &classes, DefaultNames(), "tab", "the classes 0, 1, 2, this job has a, b, c"},
		{"kind", softmax(), graphs()["sparse-linear"], DefaultNames(), "ads", "the job ads, this one is tab; the inputs images[4], x, this job has ids, indices[2], values; the classes 2, this job has 0, 1"},
	} {
		base := filepath.Join(t.TempDir(), "export")
		if got := Other(base, tt.now, tt.names, "tab"); got != "" {
			t.Errorf("%s: %q of no version", tt.name, got)
		}
		for _, version := range []struct {
			g   *graph.Graph
			job string
		}{{graphs()["mlp"], "older"}, {tt.was, tt.job}} {
			written := trained(version.g)
			written.Job = version.job
			if _, err := Write(base, version.g, written, DefaultNames(), nil); err != nil {
				t.Fatal(err)
			}
		}
		want := tt.want
		if want != "" {
			want = filepath.Join(base, "2") + ", the newest version there, has " + want
		}
		if got := Other(base, tt.now, tt.names, "tab"); got != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
		if err := os.WriteFile(filepath.Join(base, "2", modelFile), []byte("no model"), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := Other(base, tt.now, tt.names, "tab"); got != "" {
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
		w, err := Write(base, softmax(), written, DefaultNames(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(w.Path, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if len(texts[1]) != len(texts[0])+len("tab")+2 || slices.Equal(texts[0], texts[1]) {
		t.Errorf("with a name saved_model.pb has %d bytes, without %d", len(texts[1]), len(texts[0]))
	}
}
