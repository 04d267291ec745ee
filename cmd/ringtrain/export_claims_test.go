package main

import (
	"strings"
	"testing"
)

// TestExportClaims verifies that line and event of an export claim only what was done:
// its variables were read back. No record was predicted by its graph.
func TestExportClaims(t *testing.T) {
	b := newBox(t)
	small := []string{"--set", "input.synthetic=true", "--set", "train.steps=2"}
	e := b.must(0, append([]string{"train", "mnist"}, small...)...)
	out := e.stdout + e.stderr
	if want := "export export/mnist/1 of step 2  variables read back: 1000 records predicted, largest difference 0\n"; !strings.Contains(out, want) {
		t.Errorf("no line %q in\n%s", want, out)
	}
	if strings.Contains(out, "verified") {
		t.Errorf("something is called verified\n%s", out)
	}
	x := b.must(0, append([]string{"train", "mnist", "--json", "--resume", "never", "--set", "checkpoint.dir=again"}, small...)...).only(t, "export")
	if x.text("how") != "variables read back" || x.num("verified") != 1000 || x.num("max_difference") != 0 {
		t.Errorf("the event is %v, want how: variables read back", x)
	}
}
