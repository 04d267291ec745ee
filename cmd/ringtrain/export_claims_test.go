package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestExportClaims verifies that line and event of an export claim what was done: its graph was run, and gave the scores of
// the model.
func TestExportClaims(t *testing.T) {
	b := newBox(t)
	small := []string{"--set", "input.synthetic=true", "--set", "train.steps=2"}
	e := b.must(0, append([]string{"train", "mnist"}, small...)...)
	out := e.stdout + e.stderr
	if want := "export export/mnist/1 of step 2: its graph gives the model's scores on 1,000 of "; !strings.Contains(out, want) || !strings.Contains(out, "), accuracy 0.") {
		t.Errorf("no line %q with the accuracy in\n%s", want, out)
	}
	x := b.must(0, append([]string{"train", "mnist", "--json", "--resume", "never", "--set", "checkpoint.dir=again"}, small...)...).only(t, "export")
	if x.text("how") != "graph run" || x.num("verified") != 1000 || x.num("max_difference") > 1e-5 {
		t.Errorf("the event is %v, want how: graph run", x)
	}
}

// TestExportGuard verifies that a job whose model does not hold a condition of export.if ends with 80 without a version, that its
// checkpoint can be exported without the condition, and that eval refuses a bundle whose graph was changed.
func TestExportGuard(t *testing.T) {
	b := newBox(t)
	job := []string{"ctr", "--set", "input.synthetic=true", "--set", "train.steps=5", "--set", "export.if=auc >= 0.999"}
	e := b.must(80, append([]string{"train"}, job...)...)
	if !regexp.MustCompile(`export\.if: auc is 0\.\d+, want >= 0\.999; its checkpoint is kept`).MatchString(e.stderr) {
		t.Errorf("the job says\n%s", e.stderr)
	}
	if _, err := os.Stat(b.path("export/ctr")); err == nil {
		t.Error("there is an export")
	}
	b.must(80, append([]string{"export", "--to", "other"}, job...)...)
	b.must(0, append([]string{"export", "--to", "other"}, append(job, "--set", "export.if=sound")...)...)
	name := b.path("other/1/saved_model.pb")
	text, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte("Sigmoid")) {
		t.Fatalf("the graph has no Sigmoid, error %v", err)
	}
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte("Sigmoid"), []byte("Softmax")), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := b.must(70, append([]string{"eval", "--from", "other/1"}, job...)...); !strings.Contains(e.stderr, "other/1: predict differs from the model by ") {
		t.Errorf("eval says\n%s", e.stderr)
	}
}
