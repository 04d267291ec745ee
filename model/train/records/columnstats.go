package records

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// ColumnStats describes the values of a column in the training records.
type ColumnStats struct{ column.Stats }

// Kind names the event.
func (ColumnStats) Kind() string { return "column" }

// StatsOfColumns reads the training records of a job once and describes each column that
// input.columns reads. A job without columns is an error with exitcode.Usage.
func StatsOfColumns(ctx context.Context, cfg *job.Config, opts Options) ([]ColumnStats, error) {
	o := NewOpener(cfg, opts)
	if err := o.compile(ctx); err != nil {
		return nil, err
	}
	if o.plan == nil {
		return nil, exitcode.With(exitcode.Usage, errors.New("input.columns is empty, want the columns to describe"))
	}
	o.plan.Count()
	cfg.Input.Cache = convert.CacheOff // a cache stores ids in place of texts
	d, err := o.openSplit(ctx, split{key: "input.train", files: cfg.Input.Train, learn: true})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("input.train: %w", err)
	}
	var all []ColumnStats
	for _, s := range o.plan.Stats() {
		all = append(all, ColumnStats{s})
	}
	return all, nil
}
