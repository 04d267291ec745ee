package records

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/model/job"
)

// TestRepeated verifies that the notice of a file which two patterns match names the set, and that it goes
// to Repeated, which is told apart from the notices of one rank.
func TestRepeated(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.svm")
	if err := os.WriteFile(name, []byte("1 1:1\n0 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := job.Default()
	cfg.Model.Kind, cfg.Model.Features = "sparse-linear", 4
	cfg.Input.Train = job.Files{Format: "libsvm", Files: []string{name, filepath.Join(dir, "*.svm")}}
	cfg.Input.Eval = cfg.Input.Train
	var got []string
	set, err := NewOpener(&cfg, Options{Repeated: func(text string) { got = append(got, text) }, Notice: func(text string) { t.Error(text) }}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	want := []string{"input.train: files that are named twice are read once: " + name, "input.eval: files that are named twice are read once: " + name}
	if !slices.Equal(got, want) || set.Train.Facts().Records != 2 {
		t.Errorf("told %q of %d records, want %q of 2", got, set.Train.Facts().Records, want)
	}
}
