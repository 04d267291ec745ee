package speed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Run is a job of this program on this host that is timed and then stopped.
type Run struct {
	Program string
	Job     string   // a job file, or the name of a built-in job
	Sets    []string // options of the job, as --set takes them
	Ranks   int
	Env     []string // besides this process's own

	Memory  bool          // Result has it
	Warm    time.Duration // not counted
	Measure time.Duration
}

// A Result is what a run came to while it was timed.
type Result struct {
	ExamplesPerS float64 // of all ranks
	Loss         float64 // of the last steps
	Batch        int     // examples of a step over all ranks
	Parameters   int
	Kernels      string // kernel set of the run
	Memory       int64  // bytes of RssAnon and RssShmem of the largest process
	Shares
}

// Shares are parts of the time of rank 0's steps, which together are 1.
type Shares struct {
	Input    float64 `json:"input_share"`    // waiting for a batch
	Compute  float64 `json:"compute_share"`  // forward and backward
	Exchange float64 `json:"exchange_share"` // waiting for the sum, where backward does not hide it
	Update   float64 `json:"update_share"`   // the optimizer
}

// events are the times between two lines about steps.
const events = 200 * time.Millisecond

// argv is the command line of the run.
func (r Run) argv() []string {
	words := []string{r.Program, "train", "--json", r.Job}
	if r.Ranks > 1 {
		words = []string{r.Program, "run", "-np", strconv.Itoa(r.Ranks), "--json", r.Job}
	}
	for _, s := range append([]string{fmt.Sprintf("log.every=%v", events)}, r.Sets...) {
		words = append(words, "--set", s)
	}
	return words
}

// Time runs the job until it has been timed.
func (r Run) Time(ctx context.Context) (Result, error) {
	// A child is killed when the thread that started it ends: stay on it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	argv := r.argv()
	cmd, said := exec.CommandContext(ctx, argv[0], argv[1:]...), new(tail)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), r.Env...), said, dieWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
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
	return Result{}, fmt.Errorf("%s ended before it was timed (%w)%s", strings.Join(argv[1:], " "), errors.Join(err), said)
}

// A window adds up the events of steps after the warm-up.
type window struct {
	warm, measure time.Duration

	begun, last time.Time // of the start and of the last event
	took        time.Duration
	examples    float64
	parts       [4]float64 // seconds: input, compute, exchange, update
	loss        float64
	batch       int
	parameters  int
	kernels     string
}

// add reads one line of the run. Lines about other events change nothing.
func (w *window) add(line []byte) {
	var e struct {
		Event        string    `json:"event"`
		Time         time.Time `json:"time"`
		ExamplesPerS float64   `json:"examples_per_s"`
		Loss         any       `json:"loss"`
		Input        float64   `json:"input_s"`
		Compute      float64   `json:"compute_s"`
		Exposed      float64   `json:"exposed_s"`
		Update       float64   `json:"update_s"`
		Batch        int       `json:"global_batch"`
		Parameters   int       `json:"parameters"`
		Kernels      string    `json:"kernels"`
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Event {
	case "start":
		w.begun, w.last, w.batch, w.parameters, w.kernels = e.Time, e.Time, e.Batch, e.Parameters, e.Kernels
	case "step":
		if w.begun.IsZero() {
			return
		}
		if took := e.Time.Sub(w.last); w.last.Sub(w.begun) >= w.warm {
			w.took += took
			w.examples += e.ExamplesPerS * took.Seconds()
			for i, s := range [...]float64{e.Input, e.Compute - e.Update, e.Exposed, e.Update} {
				w.parts[i] += s
			}
			w.loss, _ = e.Loss.(float64)
		}
		w.last = e.Time
	}
}

func (w *window) full() bool { return w.took > 0 && w.took >= w.measure }

// result is the mean over the window.
func (w *window) result() (Result, error) {
	r := Result{ExamplesPerS: w.examples / w.took.Seconds(), Loss: w.loss, Batch: w.batch, Parameters: w.parameters, Kernels: w.kernels}
	whole := w.parts[0] + w.parts[1] + w.parts[2] + w.parts[3]
	if !(r.ExamplesPerS > 0) || !(whole > 0) {
		return Result{}, fmt.Errorf("%v of steps have %v examples a second, want some", w.took, r.ExamplesPerS)
	}
	r.Shares = Shares{w.parts[0] / whole, w.parts[1] / whole, w.parts[2] / whole, w.parts[3] / whole}
	return r, nil
}

// grace is the time between TERM and KILL.
const grace = 5 * time.Second

// tailBytes are kept of what a process says on standard error.
const tailBytes = 2 << 10

// tail keeps the last bytes that are written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// String is the last lines, or nothing.
func (t *tail) String() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	lines = lines[max(0, len(lines)-3):]
	if text := strings.TrimSpace(strings.Join(lines, " | ")); text != "" {
		return ": " + text
	}
	return ""
}
