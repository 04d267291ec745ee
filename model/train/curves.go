package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringtrain/export/events"
	"ringtrain/model/train/report"
)

// curves are the scalars of a run in the event file of summary.dir, which rank 0 writes. Without a file
// they go nowhere.
type curves struct {
	file    *events.Writer
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

// add adds the numbers of an event and others. It returns the fault of earlier scalars that could not be
// written.
func (c *curves) add(step int64, group string, e report.Event, others ...events.Scalar) error {
	if c.file == nil {
		return nil
	}
	c.scalars = append(appendScalars(c.scalars[:0], group, e), others...)
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

// uncurved are the fields of a step without a curve, or with one of another name.
var uncurved = []string{"steps", "examples", "learning_rate", "interval_s", "left_s", "due"}

// appendScalars appends the numbers of an event, each by its name in JSON.
func appendScalars(dst []events.Scalar, group string, e report.Event) []events.Scalar {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "step" || group == "train" && slices.Contains(uncurved, name) {
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
