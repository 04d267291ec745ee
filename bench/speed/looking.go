package speed

import (
	"context"
	"runtime"
	"time"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/look"
)

// looking looks at the table of bench input as init or data check does, in this process. The figure is per second
// of CPU time.
type looking struct {
	checks bool

	file string
	rows int
}

func (l *looking) open(_ context.Context, w work) (string, error) {
	l.file, l.rows = w.records.log.text("csv", 1), w.click.rows
	return "", nil
}

func (l *looking) turn(ctx context.Context, _ time.Duration) (turn, error) {
	runtime.GC() // do not count the garbage of other contenders
	before := cpuTime()
	if err := l.look(ctx); err != nil {
		return turn{}, err
	}
	return turn{rate: float64(l.rows) / (cpuTime() - before).Seconds()}, nil
}

func (l *looking) look(ctx context.Context) error {
	if !l.checks {
		_, err := look.Look(ctx, look.Options{Names: []string{l.file}})
		return err
	}
	plan, err := planOf(tableColumns())
	if err != nil {
		return err
	}
	_, err = look.Check(ctx, &convert.Spec{Origin: convert.Origin{Format: "csv", Files: []string{l.file}, Header: true}, Columns: plan, LabelRule: input.Labels{Binary: true}}, nil)
	return err
}

func (l *looking) close() {}
