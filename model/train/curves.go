package train

import (
	"fmt"
	"strings"
	"time"

	"ringtrain/export/events"
	"ringtrain/model/train/report"
)

// curves are the scalars of a run in the event file of summary.dir, which rank 0 writes: they read the stream of
// events. Without a file they go nowhere.
type curves struct {
	file    *events.Writer
	steps   report.Sum
	scalars []events.Scalar
}

// open creates the file in dir, once a process, for the steps from first on.
func (c *curves) open(dir string, first int64) error {
	if dir == "" || c.file != nil {
		return nil
	}
	w, err := events.Create(dir, first, time.Now())
	if err != nil {
		return fmt.Errorf("summary.dir: %w", err)
	}
	c.file = w
	return nil
}

// add adds the numbers of an event. It returns the fault of earlier scalars that could not be written.
func (c *curves) add(e report.Event) error {
	if c.file == nil {
		return nil
	}
	step := int64(0)
	c.scalars = c.scalars[:0]
	switch e := e.(type) {
	case report.Step:
		sum, due := c.steps.Add(e)
		if !due {
			return nil
		}
		step, c.scalars = sum.Step, appendStep(c.scalars, &sum)
	case report.Metrics:
		if e.Split == "test" {
			return nil
		}
		step, c.scalars = e.Step, appendMetrics(c.scalars, &e)
	default:
		return nil
	}
	return c.file.Add(step, c.scalars, time.Now())
}

// flush waits until all scalars are written.
func (c *curves) flush() error {
	if c.file == nil {
		return nil
	}
	return c.file.Flush()
}

// close closes the file.
func (c *curves) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// appendStep appends the curves of the steps of a line.
func appendStep(dst []events.Scalar, s *report.Step) []events.Scalar {
	seconds := func(s report.Seconds) float64 { return time.Duration(s).Seconds() }
	dst = append(dst, []events.Scalar{
		{Tag: "train/epoch", Value: float64(s.Epoch)},
		{Tag: "train/loss", Value: float64(s.Loss)},
		{Tag: "train/examples_per_s", Value: s.ExamplesPerS},
		{Tag: "train/compute_s", Value: seconds(s.Compute)},
		{Tag: "train/update_s", Value: seconds(s.Update)},
		{Tag: "train/reduce_s", Value: seconds(s.Reduce)},
		{Tag: "train/input_s", Value: seconds(s.Input)},
		{Tag: "train/exposed_s", Value: seconds(s.Exposed)},
		{Tag: "train/learning_rate", Value: float64(s.LearningRate)},
		{Tag: "train/exchange_share", Value: s.ExchangeShare()},
	}...)
	if s.Objective != nil {
		dst = append(dst, events.Scalar{Tag: "train/objective", Value: float64(*s.Objective)})
	}
	return dst
}

// appendMetrics appends the curves of an evaluation: those that it has.
func appendMetrics(dst []events.Scalar, m *report.Metrics) []events.Scalar {
	group := curveGroup(m) + "/"
	count := func(n int64) *report.Number { return report.NewNumber(float64(n)) }
	var correct *report.Number
	if m.Correct != nil {
		correct = count(*m.Correct)
	}
	for _, c := range []struct {
		tag   string
		value *report.Number
	}{
		{"epoch", count(m.Epoch)}, {"examples", count(m.Examples)}, {"correct", correct}, {"threshold", m.Threshold},
		{"precision", report.Mean(m.Precision)}, {"recall", report.Mean(m.Recall)}, {"f1", report.Mean(m.F1)}, {"bad_records", count(m.Bad)},
	} {
		if c.value != nil {
			dst = append(dst, events.Scalar{Tag: group + c.tag, Value: float64(*c.value)})
		}
	}
	for _, n := range m.Numbers() {
		dst = append(dst, events.Scalar{Tag: group + n.Name, Value: float64(n.Value)})
	}
	return dst
}

// curveGroup returns the group of the curves of an evaluation.
func curveGroup(m *report.Metrics) string {
	switch {
	case m.Name != "":
		return "eval_" + strings.ToValidUTF8(m.Name, "?")
	case m.Split == "train": // the job has no validation records
		return "eval_train"
	}
	return "eval"
}
