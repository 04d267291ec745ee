package speed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"ringtrain/bench/child"
	"ringtrain/model/train/report"
)

// A Run is a job of this program on this host that is timed and then stopped.
type Run struct {
	Program string
	Job     string   // a job file, or the name of a built-in job
	Sets    []string // options of the job, as --set takes them
	Ranks   int
	Launch  []string // options of the launcher, such as hosts, and of the job; without any one rank has no launcher

	Memory  bool          // measure Result.Memory
	Warm    time.Duration // untimed duration before Measure
	Measure time.Duration
}

// A Result is the measurement of a Run.
type Result struct {
	ExamplesPerS float64 // of all ranks
	Loss         float64 // of the last steps
	Batch        int     // examples of a step over all ranks
	Parameters   int
	Kernels      string // kernel set of the run
	Memory       int64  // bytes of RssAnon and RssShmem of the largest process
	RSS          int64  // resident bytes of the largest rank, as ranks report them
	Shares
}

// Shares divide the time of rank 0's steps. Their sum is 1.
type Shares struct {
	Input    float64 `json:"input_share"`    // waiting for a batch
	Compute  float64 `json:"compute_share"`  // forward and backward
	Exchange float64 `json:"exchange_share"` // waiting for the sum, beyond the overlap with backward
	Update   float64 `json:"update_share"`   // the optimizer
}

// events is the interval of step events.
const events = 200 * time.Millisecond

// argv returns the command line of the run.
func (r Run) argv() []string {
	words := []string{r.Program, "train"}
	if r.Ranks > 1 || len(r.Launch) > 0 {
		words = append([]string{r.Program, "run", "-np", strconv.Itoa(r.Ranks)}, r.Launch...)
	}
	words = append(words, "--json", "--verbose", r.Job)
	for _, s := range append([]string{fmt.Sprintf("log.every=%v", events)}, r.Sets...) {
		words = append(words, "--set", s)
	}
	return words
}

// Time runs the job until the measurement is complete.
func (r Run) Time(ctx context.Context) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	argv := r.argv()
	cmd, stderr := child.Process{Argv: argv}.Command(ctx)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, err
	}
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	var watch memoryWatch
	if r.Memory {
		watch = watchMemory(cmd.Process.Pid)
	}
	w := window{warm: r.Warm, measure: r.Measure}
	for lines := bufio.NewScanner(out); !w.full() && lines.Scan(); {
		w.add(lines.Bytes())
	}
	cause := context.Cause(ctx) // before stop
	stop()
	err = cmd.Wait()
	memory := watch.stop()
	switch {
	case w.full():
		result, err := w.result()
		result.Memory = memory
		return result, err
	case cause != nil:
		return Result{}, cause
	}
	if err == nil {
		err = errors.New("exit code 0")
	}
	return Result{}, fmt.Errorf("%s ended before it was timed (%w)%s", strings.Join(argv[1:], " "), err, stderr)
}

// A window accumulates the step events after the warm-up.
type window struct {
	warm, measure time.Duration

	begun, last time.Time   // of the start and of the last event
	steps       report.Step // the sum after the warm-up
	loss        report.Number
	batch       int
	parameters  int
	kernels     string
	rss         int64
}

// add parses one line of the run. It ignores other events.
func (w *window) add(line []byte) {
	at, err := report.Parse(line)
	if err != nil {
		return
	}
	switch e := at.Event.(type) {
	case report.Start:
		w.begun, w.last, w.batch, w.parameters, w.kernels = at.Time, at.Time, e.GlobalBatch, e.Parameters, e.Kernels
	case report.Ranks:
		for _, rank := range e.Ranks {
			w.rss = max(w.rss, rank.RSS)
		}
	case report.Step:
		if !w.begun.IsZero() && w.last.Sub(w.begun) >= w.warm {
			w.steps, w.loss = w.steps.Add(e), e.Loss
		}
		w.last = at.Time
	}
}

func (w *window) full() bool {
	return w.steps.Interval > 0 && time.Duration(w.steps.Interval) >= w.measure
}

// result returns the mean over the window.
func (w *window) result() (Result, error) {
	s := w.steps
	r := Result{ExamplesPerS: s.ExamplesPerS, Loss: float64(w.loss), Batch: w.batch, Parameters: w.parameters, Kernels: w.kernels, RSS: w.rss}
	whole := float64(s.Input + s.Compute + s.Exposed)
	if !(r.ExamplesPerS > 0) || !(whole > 0) {
		return Result{}, fmt.Errorf("%v of steps have %v examples a second, want some", time.Duration(s.Interval), r.ExamplesPerS)
	}
	r.Shares = Shares{float64(s.Input) / whole, float64(s.Compute-s.Update) / whole, float64(s.Exposed) / whole, float64(s.Update) / whole}
	return r, nil
}
