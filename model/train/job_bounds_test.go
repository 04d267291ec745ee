package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestJobBounds verifies that a job refuses records whose ids would make a
// model of 16 GiB, at model.features where the job says that, and that a larger
// input.max_features takes them.
func TestJobBounds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.libsvm")
	if err := os.WriteFile(file, []byte("1 1:1\n0 100000000:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const text = `
name: ids
model:     {kind: sparse-linear}
input:     {train: {format: libsvm, files: [a.libsvm]}, batch: 2}
optimizer: {name: sgd, learning_rate: 0.1}
train:     {steps: 1}
`
	for _, tt := range []struct {
		sets []string
		want string // of the error, "": none
	}{
		{nil, "a.libsvm:2: record 1 at byte 6: index is 100000000, want one in [0, 67108864), as input.max_features says"},
		{[]string{"model.features=5000"}, "a.libsvm:2: record 1 at byte 6: index is 100000000, want one in [0, 5000), as model.features says; raise it before training"},
		{[]string{"input.max_features=100000000"}, "want one in [0, 100000000), as input.max_features says"},
		{[]string{"input.max_features=100000001"}, ""},
		{[]string{"model.features=100000001"}, ""},
	} {
		r, err := Prepare(t.Context(), loadText(t, text, tt.sets...), Options{Roots: []string{filepath.Dir(file)}, Resume: "never"})
		if err == nil {
			r.Close()
		}
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%v: error %v, want none", tt.sets, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || exitcode.Of(err) != exitcode.BadData):
			t.Errorf("%v: error %v (%d), want %q", tt.sets, err, exitcode.Of(err), tt.want)
		}
	}
}
