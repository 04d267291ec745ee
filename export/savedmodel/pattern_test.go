package savedmodel

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/savedmodel/interop"
)

// loads prints for each argument whether TensorFlow loads the SavedModel there.
const loads = `
import sys, tensorflow as tf
for path in sys.argv[1:]:
    try:
        tf.saved_model.load(path)
        print("loads")
    except Exception as e:
        print("fails")
`

// TestInteropPattern verifies with TensorFlow that an export in a folder of which PatternWarning warns
// is not loaded, with the character in the folder's name or above it, and that one in a plain folder
// is.
func TestInteropPattern(t *testing.T) {
	python := interop.Python(t)
	var paths, want []string
	for _, base := range []string{"plain", "a b=c", "x[ab]y", "x[ab]y/run", `x\y`} {
		base = filepath.Join(t.TempDir(), base)
		path, err := Write(testDisk(), base, softmax(), trained(softmax()), nil)
		if err != nil {
			t.Fatal(err)
		}
		says := "loads"
		if bundle.PatternWarning("export.savedmodel", base) != "" {
			says = "fails"
		}
		paths, want = append(paths, path), append(want, says)
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", loads}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("TensorFlow %q the exports in %q, want %q", got, paths, want)
	}
}
