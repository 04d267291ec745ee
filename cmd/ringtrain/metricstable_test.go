package main

import (
	"strings"
	"testing"
)

// TestEvalTable verifies that eval prints the table, and that standard output has only
// the event with --json. It verifies that --importance wants columns, and --sample a number of
// records for it.
func TestEvalTable(t *testing.T) {
	b, _ := trainedBox(t, "mnist")
	args := []string{"eval", "mnist", "--from", "ckpt/mnist", "--set", "input.synthetic=true", "--set", "eval.top_k=3"}
	if e := b.must(0, args...); !strings.Contains(e.stdout, "class  precision") || !strings.Contains(e.stdout, "top_k ") {
		t.Errorf("for people: %s", e.stdout)
	}
	e := b.must(0, append(args, "--json")...)
	eval := e.only(t, "eval")
	if len(e.events(t)) != 1 || len(eval.list("confusion")) != 10 || len(eval.list("f1")) != 10 || eval.num("top_k") <= eval.num("accuracy") {
		t.Errorf("for programs: %s", e.stdout)
	}
	for _, more := range [][]string{{"--importance"}, {"--sample", "3"}, {"--importance", "--sample", "0"}} {
		if e := b.must(64, append(args, more...)...); !strings.Contains(e.stderr, more[len(more)/2]) {
			t.Errorf("%v: %s", more, e.stderr)
		}
	}
}
