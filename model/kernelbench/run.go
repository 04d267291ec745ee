package kernelbench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ringtrain/model/kernel"
	"ringtrain/ring/cores"
)

// Parts of the table that can be selected.
const (
	OnlySquares = "squares"
	OnlyModels  = "models"
)

// Config configures Run.
type Config struct {
	Sets    []string      // names of kernel sets; none: all of the machine
	Threads int           // threads of the kernels
	Budget  time.Duration // time of each row
	Only    string        // part of the table; "": all
	Sizes   []int         // lengths of the squares; none: 64 to 1024
}

// Check returns all errors of c.
func (c Config) Check() error {
	var errs []error
	if c.Threads < 1 || c.Threads > cores.Affinity() {
		errs = append(errs, fmt.Errorf("--threads is %d, want 1 to %d, the machine's", c.Threads, cores.Affinity()))
	}
	if c.Budget <= 0 {
		errs = append(errs, fmt.Errorf("--budget is %v, want more than 0", c.Budget))
	}
	if c.Only != "" && c.Only != OnlySquares && c.Only != OnlyModels {
		errs = append(errs, fmt.Errorf("--only is %q, want %s or %s", c.Only, OnlySquares, OnlyModels))
	}
	for _, n := range c.Sizes {
		if n < 1 || n > largest {
			errs = append(errs, fmt.Errorf("--sizes has %d, want 1 to %d", n, largest))
		}
	}
	_, err := c.sets()
	return errors.Join(append(errs, err)...)
}

// largest is the maximum length of a square.
const largest = 1 << 13

// squares returns the lengths of square products.
func (c Config) squares() []int {
	if len(c.Sizes) > 0 {
		return c.Sizes
	}
	return []int{64, 128, 256, 512, 1024}
}

// sets returns the selected kernel sets. It is an error if the machine lacks one.
func (c Config) sets() ([]kernel.Set, error) {
	have := kernel.Sets()
	if len(c.Sets) == 0 {
		return have, nil
	}
	var sets []kernel.Set
	for _, name := range c.Sets {
		s, err := kernel.ParseSet(name)
		if err == nil && !slices.Contains(have, s) {
			err = fmt.Errorf("--kernels has %s, want one of %v: this machine has no other", name, have)
		}
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// A Row is one kernel of one set. Its JSON form is a line of bench kernels --json.
type Row struct {
	Set     string  `json:"kernels"`
	Op      string  `json:"op"`
	Shape   string  `json:"shape"`
	Threads int     `json:"threads"`
	Time    float64 `json:"time_s"`        // time of a call in the fastest sample
	Median  float64 `json:"median_time_s"` // median of all samples
	Rate    float64 `json:"gflop_s"`       // rate by Time
	Peak    float64 `json:"peak_gflop_s"`  // measured peak of Threads cores
	Share   float64 `json:"peak_share"`
}

// Kind names the event.
func (Row) Kind() string { return "kernel" }

// Header is the head of the table of Row.String lines.
const Header = `# GFLOP/s of the fastest sample, and its share of the measured peak
#kernels  threads  op        shape                        time us   median us   GFLOP/s     peak  share`

// String returns a line of the table.
func (r Row) String() string {
	return fmt.Sprintf("%-9s %8d  %-9s %-24s %11.1f %11.1f %9.1f %8.1f %5.1f%%", r.Set, r.Threads, r.Op, r.Shape,
		r.Time*1e6, r.Median*1e6, r.Rate, r.Peak, 100*r.Share)
}

// Run times all works of all sets and calls tell with each row, set by set.
func Run(c Config, tell func(Row)) error {
	if err := c.Check(); err != nil {
		return err
	}
	sets, err := c.sets()
	if err != nil {
		return err
	}
	all := works(c)
	for _, s := range sets {
		highest := peak(s)
		var rows []Row
		e := kernel.New(s, c.Threads)
		for _, w := range all {
			rows = append(rows, w.time(e, c.Budget))
		}
		e.Close()
		highest = max(highest, peak(s)) * float64(c.Threads)
		for _, r := range rows {
			r.Set, r.Threads, r.Peak = s.String(), c.Threads, highest/1e9
			r.Share = r.Rate / r.Peak
			tell(r)
		}
	}
	return nil
}

// sample is the approximate duration of a sample.
const sample = 2 * time.Millisecond

// time calls w repeatedly for the budget, the first time uncounted.
func (w work) time(e *kernel.Engine, budget time.Duration) Row {
	w.call(e)
	calls, times := 1, []float64(nil)
	for start := time.Now(); len(times) == 0 || time.Since(start) < budget; {
		began := time.Now()
		for range calls {
			w.call(e)
		}
		took := max(time.Since(began), 1)
		times = append(times, took.Seconds()/float64(calls))
		if took < sample/2 {
			calls *= 2
			times = times[:0] // too short for the clock
		}
	}
	slices.Sort(times)
	return Row{Op: w.op, Shape: w.shape, Time: times[0], Median: times[len(times)/2], Rate: w.flop / times[0] / 1e9}
}
