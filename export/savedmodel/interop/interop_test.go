package interop

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// fatal is a test that records what it fails with.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.said = format
	for _, a := range args {
		if s, ok := a.(string); ok {
			f.said += s
		}
	}
	panic(f)
}

// TestInteropAnswers has one process of TensorFlow run three scripts that must fail: two look for
// a checkpoint in an empty folder, the third gets a wrong argument. It verifies that Run reports
// each failure, and returns each script's own output.
func TestInteropAnswers(t *testing.T) {
	tf := Start(t)
	failed := func(script string, args ...string) string {
		f := &fatal{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != f {
					panic(r)
				}
			}()
			tf.Run(f, t.TempDir(), script, args...)
		}()
		return f.said
	}
	for _, name := range []string{"one", "two"} {
		said := failed("check_checkpoint.py", name, "--optimizer", "sgd")
		if !strings.Contains(said, "tf.train.latest_checkpoint finds nothing") || !strings.Contains(said, `"`+name+`"`) {
			t.Errorf("TensorFlow says %q, want that there is no checkpoint in %s", said, name)
		}
	}
	if said := failed("check_checkpoint.py"); !strings.Contains(said, "usage:") {
		t.Errorf("TensorFlow says %q, want how to use the script", said)
	}
	if said := failed(filepath.Join("..", "none.py")); !strings.Contains(said, "No such file") {
		t.Errorf("TensorFlow says %q, want that there is no such script", said)
	}
	if help := tf.Run(t, ".", "check_bundle.py", "--help"); !strings.Contains(help, "usage:") || json.Valid([]byte(help)) {
		t.Errorf("TensorFlow says %q, want the help", help)
	}
}
