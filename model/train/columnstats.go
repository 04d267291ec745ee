package train

import (
	"errors"
	"fmt"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/ring/exitcode"
)

// ColumnStats is what the training records have in a column.
type ColumnStats struct{ column.Stats }

// Kind names the event.
func (ColumnStats) Kind() string { return "column" }

// StatsOfColumns reads the training records of a job, once, and returns what they have in each
// column that input.columns reads. A job without columns is exitcode.Usage.
func StatsOfColumns(job *Job, roots []string) ([]ColumnStats, error) {
	if err := job.compileColumns(roots); err != nil {
		return nil, err
	}
	if job.plan == nil {
		return nil, exitcode.With(exitcode.Usage, errors.New("input.columns is empty, want columns to tell of"))
	}
	job.plan.Count()
	job.Input.Cache = convert.CacheOff // which has made ids of the texts
	d, err := openSplit(job, split{key: "input.train", files: job.Input.Train, learn: true}, roots)
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("input.train: %w", err)
	}
	var all []ColumnStats
	for _, s := range job.plan.Stats() {
		all = append(all, ColumnStats{s})
	}
	return all, nil
}
