package job

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// TestSpellLayers verifies that each kind of model, spelled as layers and loaded as a job,
// is the same graph.
func TestSpellLayers(t *testing.T) {
	shape := graph.Shape{28, 28, 1}
	for _, name := range append(keys.Takes(model.Kind("").Takes()).Words(), "mnist") {
		c, loss, err := modelOf(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := SpellLayers(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "job.yaml")
		head := "input: {synthetic: true}\noptimizer: {learning_rate: 1}\n"
		if h := c.Head(loss); h.Kind == graph.HeadRegression {
			head += "loss: {kind: squared}\n"
		} else if h.Kind == graph.HeadBinary {
			head += "loss: {kind: sigmoid}\n"
		}
		if err := os.WriteFile(path, append([]byte(head), text...), 0o600); err != nil {
			t.Fatal(err)
		}
		job, err := Load(path, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		at := model.Inputs{Dense: shape}
		if slices.Contains([]string{"linear", "softmax", "mlp", "mnist"}, name) {
			at.Dense = graph.Shape{784} // a dense model reads an image as one row
		}
		if c.ReadsIDs(model.MayHaveIDs) {
			at = model.Inputs{IDs: 1000}
		}
		want, err := c.GraphOf(at, loss)
		if err != nil {
			t.Fatal(err)
		}
		got, err := job.Model.GraphOf(at, job.Loss)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-kind +layers):\n%s", name, diff)
		}
	}
	if _, err := SpellLayers("nope"); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want a usage error", err)
	}
}
