package main

import (
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// TestStepSentence verifies the facts of a step: the metric of the last evaluation, the time left,
// the shares of input, compute and exchange, and the rank that the others wait for.
func TestStepSentence(t *testing.T) {
	second := report.Seconds(time.Second)
	e := report.Step{Step: 50, Steps: 1050, Epoch: 2, Loss: 0.25, ExamplesPerS: 1234567, Compute: second, Input: second / 2, Exposed: second / 2, Interval: 2 * second, Left: 80 * second}
	const want = "step 50 of 1050  epoch 2  loss 0.25  AUC 0.9000  1m20s left  1,234,567 examples/s  input 25 %  compute 50 %  exchange 25 %"
	if got := stepSentence(e, "AUC 0.9000"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Straggler = &report.Straggler{Rank: 3, Host: "host-b", Share: 0.318}
	if got := stepSentence(e, ""); !strings.Contains(got, " examples/s  waits 32 % for rank 3 on host-b  input ") {
		t.Errorf("%q, want the rank that the others wait for", got)
	}
	if got := stepSentence(report.Step{Step: 1, Steps: 1, Epoch: 1, ExamplesPerS: 7}, ""); got != "step 1 of 1  epoch 1  loss 0  7 examples/s" {
		t.Errorf("%q of a step without times", got)
	}
}

// TestMetricsSentence verifies that an accuracy by weight does not claim to be that of the count beside it.
func TestMetricsSentence(t *testing.T) {
	right := int64(3133)
	e := report.Metrics{Step: 5, Split: "eval", Examples: 4000, Loss: 0.5, Correct: &right, Accuracy: report.NewNumber(0.78325)}
	const want = "eval  step 5  eval records: loss 0.5, accuracy 0.7833 (3,133 of 4,000 right)"
	if got := metricsSentence(e); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Weighted, e.Accuracy = true, report.NewNumber(0.7786)
	const weighted = "eval  step 5  eval records: loss 0.5, accuracy 0.7786 by weight, 3,133 of 4,000 right"
	if got := metricsSentence(e); got != weighted {
		t.Errorf("%q, want %q", got, weighted)
	}
}

// TestGenerationSentence verifies that the sentence of a generation says who was lost and why, and
// what is repeated if no living rank has the state.
func TestGenerationSentence(t *testing.T) {
	e := report.Generation{Generation: 2, WorldSize: 4, Cause: "link 1 -> 2: connection reset", RestoredStep: 4000}
	nobody := "generation 2 of 4 workers goes on, nobody was lost: link 1 -> 2: connection reset"
	for _, tt := range []struct {
		change func(e *report.Generation)
		want   string
	}{
		{func(*report.Generation) {}, nobody},
		{func(e *report.Generation) { e.StepsRepeated = 1 }, nobody},
		{func(e *report.Generation) { e.Residuals = "int8" }, nobody + "; the residuals of int8 begin anew"},
		{func(e *report.Generation) { e.Lost = []int{1, 3} },
			"generation 2 of 4 workers goes on, after the loss of rank 1, 3: link 1 -> 2: connection reset"},
		{func(e *report.Generation) { e.Forgotten = true }, nobody},
		{func(e *report.Generation) { e.Forgotten, e.StepsRepeated = true, 269 },
			nobody + "\nno living rank has the state: training resumes from step 4,000 (269 steps are repeated)"},
		{func(e *report.Generation) { e.Forgotten, e.RestoredStep, e.StepsRepeated = true, 0, 4269 },
			nobody + "\nno living rank has the state: training begins at step 0 (4,269 steps are lost); checkpoint.every bounds this"},
	} {
		changed := e
		tt.change(&changed)
		if got := sentence(changed); got != tt.want {
			t.Errorf("%+v:\n%s\nwant\n%s", changed, got, tt.want)
		}
	}
}

// TestQuiet verifies that --quiet leaves the last evaluation, the end and the warnings of a run, the
// digests where the output is no terminal, and no line of JSON out.
func TestQuiet(t *testing.T) {
	b := newBox(t)
	args := []string{"run", "-np", "2", "linear", "--set", "eval.every=20"}
	all, quiet := b.must(0, args...), b.must(0, append(args, "--quiet", "--bind-to", "core", "--resume", "never")...)
	lines := strings.Split(strings.TrimSpace(quiet.stdout), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "[0] eval  step ") || !strings.HasPrefix(lines[1], "[0] done  ") || strings.Count(all.stdout, "\n") < 5 {
		t.Errorf("says %q, without --quiet %q", quiet.stdout, all.stdout)
	}
	if said := strings.Split(strings.TrimSpace(quiet.stderr), "\n"); len(said) != 2 || strings.Count(quiet.stderr, "] digest=") != 2 {
		t.Errorf("standard error has %q, want two digests", quiet.stderr)
	}
	if events := b.must(0, append(args, "--quiet", "--json", "--resume", "never")...).events(t); len(events) < 5 {
		t.Errorf("%d lines of JSON, want all", len(events))
	}
	if got := b.must(64, append(args, "--quiet", "--verbose")...).stderr; !strings.Contains(got, "--quiet and --verbose are given") {
		t.Errorf("says %q of both", got)
	}
}
