package main

import (
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
