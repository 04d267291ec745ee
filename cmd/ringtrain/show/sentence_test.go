package show

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
