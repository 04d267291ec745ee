package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/phrase"
)

// Sentence formats an event as one line of text.
func Sentence(e report.Event) string {
	switch e := e.(type) {
	case report.Generation:
		return generationSentence(e)
	case report.Decision:
		return decisionSentence(e)
	case report.Step:
		return stepSentence(e, "")
	case report.Progressive:
		return progressiveSentence(e)
	case report.Metrics:
		return metricsSentence(e)
	case report.Checkpointed:
		return fmt.Sprintf("checkpoint %s  %s in %s", e.Path, Bytes(e.Bytes), rounded(e.Took))
	case report.Warning:
		if e.ExitCode == 0 {
			return "warning: " + e.Cause
		}
		return fmt.Sprintf("warning: %s after step %d failed on rank %d on %s: %s; training goes on", e.Operation, e.Step, e.Rank, e.Host, e.Cause)
	case report.Exported:
		return exportSentence(e)
	case report.Done:
		return fmt.Sprintf("done  %s steps, %s examples in %s (%s examples/s)", Commas(e.Steps), Commas(e.Examples), rounded(e.Took), Commas(int64(e.ExamplesPerS)))
	}
	return e.Kind()
}

// exportSentence tells what was compared before the version was published.
func exportSentence(e report.Exported) string {
	on := fmt.Sprintf("%s of %s records", Commas(int64(e.Verified)), Commas(int64(e.Of)))
	if e.MadeUp {
		on = fmt.Sprintf("%s, for the files of the records are not here", phrase.Count(e.Verified, "made-up request"))
	}
	line := fmt.Sprintf("export %s of step %d: its graph gives the model's scores on %s (largest difference %.2g)", e.Path, e.Step, on, e.MaxDifference)
	if m := e.Metric; m != nil {
		line += fmt.Sprintf(", %s %.4f", metricName(m.Name), m.Graph)
	}
	return line
}

// metricName returns what people call a metric of [report.Metrics].
func metricName(name string) string {
	if slices.Contains([]string{"auc", "rmse", "mae", "r2"}, name) {
		return strings.ToUpper(name)
	}
	if name == "top_k" {
		return name
	}
	return strings.ReplaceAll(name, "_", " ")
}

// stepSentence separates its facts by two blanks, the most important ones first. metric is that of the last evaluation,
// as text, "" if there was none.
func stepSentence(e report.Step, metric string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d of %d  epoch %d  loss %.6g", e.Step, e.Steps, e.Epoch, e.Loss)
	if e.Objective != nil {
		fmt.Fprintf(&b, " (with penalties %.6g)", *e.Objective)
	}
	if metric != "" {
		b.WriteString("  " + metric)
	}
	if left := time.Duration(e.Left).Round(time.Second); left > 0 {
		fmt.Fprintf(&b, "  %s left", left)
	}
	fmt.Fprintf(&b, "  %s examples/s", Commas(int64(e.ExamplesPerS)))
	if s := e.Straggler; s != nil {
		fmt.Fprintf(&b, "  waits %.0f %% for rank %d on %s", 100*s.Share, s.Rank, s.Host)
	}
	if e.Interval > 0 {
		b.WriteString("  " + strings.Join(partsOf(e), "  "))
	}
	return b.String()
}

// partsOf returns the parts of a step's time, as shares.
func partsOf(e report.Step) []string {
	share := func(name string, part report.Seconds) string {
		return fmt.Sprintf("%s %.0f %%", name, 100*float64(part)/float64(e.Interval))
	}
	return []string{share("input", e.Input), share("compute", e.Compute), share("exchange", e.Exposed)}
}

func decisionSentence(e report.Decision) string {
	line := fmt.Sprintf("%s %s  %s", e.What, e.Choice, e.Why)
	if e.Predicted > 0 {
		micro := func(s report.Seconds) time.Duration { return time.Duration(s).Round(time.Microsecond) }
		line += fmt.Sprintf("; predicted %s a step, achieved %s", micro(e.Predicted), micro(e.Achieved))
	}
	return line
}

func progressiveSentence(e report.Progressive) string {
	line := fmt.Sprintf("progressive  step %d  %d examples: loss %.6g; of the last %d: loss %.6g", e.Step, e.Examples, e.Loss, e.Last, e.LastLoss)
	if e.LastAUC != nil {
		line += fmt.Sprintf(", AUC %.4f", *e.LastAUC)
	}
	return line
}

func metricsSentence(e report.Metrics) string {
	var b strings.Builder
	b.WriteString("eval  ")
	if e.Step > 0 { // a bundle of others has none
		fmt.Fprintf(&b, "step %d  ", e.Step)
	}
	fmt.Fprintf(&b, "%s records: loss %.6g", cmp.Or(e.Name, e.Split), e.Loss)
	for _, n := range e.Numbers()[1:] {
		fmt.Fprintf(&b, ", %s %.4f", metricName(n.Name), n.Value)
		if n.Name != "accuracy" {
			continue
		}
		form := " (%s of %s right)"
		if e.Weighted { // the count is no part of the mean
			form = " by weight, %s of %s right"
		}
		fmt.Fprintf(&b, form, Commas(*e.Correct), Commas(e.Examples))
		if e.Threshold != nil && *e.Threshold != 0.5 {
			fmt.Fprintf(&b, " at threshold %.4g", *e.Threshold)
		}
	}
	if e.Bad > 0 {
		fmt.Fprintf(&b, ", ignored %s", phrase.Count(int(e.Bad), "bad record"))
	}
	return b.String()
}

// Commas returns n with commas between groups of three digits.
func Commas(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func rounded(s report.Seconds) time.Duration { return time.Duration(s).Round(time.Millisecond) }

// Bytes formats a number of bytes.
func Bytes(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}
