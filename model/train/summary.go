package train

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"ringtrain/export/events"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// openSummary creates an event file on rank 0, once a process. The file starts after the step at which
// the run resumes.
func (r *run) openSummary() error {
	if r.rank != 0 || r.job.Summary.Dir == "" || r.summary != nil {
		return nil
	}
	w, err := events.Create(r.job.Summary.Dir, r.progress.step+1, time.Now())
	if err != nil {
		return fmt.Errorf("summary.dir: %w", err)
	}
	r.summary = w
	return nil
}

// summarizeStep adds the scalars of the steps since the last report.
func (r *run) summarizeStep(e report.Step) {
	if r.summary == nil || r.rank != 0 {
		return
	}
	r.scalars = appendScalars(r.scalars[:0], "train", e)
	r.scalars = append(r.scalars,
		events.Scalar{Tag: "train/learning_rate", Value: float64(r.loop.Schedule.Rate(max(e.Step-1, 0)))},
		events.Scalar{Tag: "train/exchange_share", Value: e.ExchangeShare()})
	r.summarize(e.Step)
}

// summarizeEval adds the metrics of an evaluation.
func (r *run) summarizeEval(e report.Metrics) {
	if r.summary == nil || r.rank != 0 {
		return
	}
	r.scalars = appendScalars(r.scalars[:0], curveGroup(e), e)
	r.summarize(e.Step)
}

// summarize adds the scalars and warns of earlier scalars that could not be written.
func (r *run) summarize(step int64) {
	r.summary.Add(step, r.scalars, time.Now())
	r.warnUnwritten(r.summary.Fault())
}

// endSummary waits until all scalars are written.
func (r *run) endSummary() {
	if r.summary != nil && r.rank == 0 {
		r.warnUnwritten(r.summary.Flush())
	}
}

// warnUnwritten warns of scalars that could not be written.
func (r *run) warnUnwritten(err error) {
	if err != nil {
		r.warn(&ring.Cause{Rank: r.rank, Step: r.loop.Step, Operation: "summary", Text: "summary.dir: " + err.Error(), ExitCode: exitcode.Of(err)})
	}
}

// curveGroup returns the group of the curves of an evaluation.
func curveGroup(e report.Metrics) string {
	switch {
	case e.Name != "":
		return "eval_" + strings.ToValidUTF8(e.Name, "?")
	case e.Split == "train": // the job has no validation records
		return "eval_train"
	}
	return "eval"
}

// appendScalars appends the numbers of an event, each by its name in JSON.
func appendScalars(dst []events.Scalar, group string, e report.Event) []events.Scalar {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "step" {
			continue
		}
		if value, ok := scalarOf(v.Field(i)); ok {
			dst = append(dst, events.Scalar{Tag: group + "/" + name, Value: value})
		}
	}
	return dst
}

// scalarOf returns the number that v is or points to, or the mean of a list by class.
func scalarOf(v reflect.Value) (float64, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[[]report.Number]() && v.Len() > 0:
		return mean(v.Interface().([]report.Number)), true
	case v.Type() == reflect.TypeFor[report.Seconds]():
		return time.Duration(v.Int()).Seconds(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

func mean(list []report.Number) float64 {
	sum := 0.0
	for _, n := range list {
		sum += float64(n)
	}
	return sum / float64(len(list))
}
