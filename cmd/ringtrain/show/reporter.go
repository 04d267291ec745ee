package show

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// A Reporter is the standard output of this process, and all that it tells of a run: lines of JSON or
// sentences. Rank 0 reports for the job; the other ranks report only their own messages.
//
// As a writer it takes the bytes of ranks and data. It keeps the first fault of a write, so that a
// command that could not write its output to a full disk ends with an error. A closed pipe is no fault:
// its reader did not want the rest.
//
// If standard output has events, each end with an exit code other than 0 has exactly one error event: of
// the failed rank or rank 0; of the launcher, if rank 0 wrote none; or of the command, if it failed
// before both.
type Reporter struct {
	Rank    int
	JSON    bool
	Whole   bool // with JSON: each event as it comes, which a launcher reads
	Quiet   bool // people get warnings, errors and the result alone
	Verbose bool
	Draws   bool // how far the run is, where standard output is a terminal
	Watched bool // standard error is a terminal, also if the launcher has it: digests, which programs compare, are left out
	Past    View // receives the events of earlier attempts, in front; nil: nobody does
	Views   []View
	Stdout  io.Writer // for lines of text
	People  io.Writer // for sentences: standard output, or standard error with JSON
	Stderr  io.Writer

	OneOutput bool // both lead to the same file

	mu    sync.Mutex // guards what follows
	steps report.Sum
	run   following
	next  Next
	live  *screen    // nil: no live block shows the run
	kept  *keptError // nil: rank 0 has told no end
	told  bool       // the end needs no further error event: it has one, another rank reports it, or nobody reads

	out     io.Writer
	writing sync.Mutex            // locked during a write to out, which may block
	fault   atomic.Pointer[error] // the first one of out
}

// NewReporter returns the reporter of a process with its two outputs.
func NewReporter(stdout, stderr io.Writer) *Reporter {
	r := &Reporter{out: stdout, OneOutput: sameFile(stdout, stderr), Stderr: Printable(stderr, MaxMessage)}
	r.Stdout = Printable(r, math.MaxInt)
	r.People = r.Stdout
	return r
}

// pipeBytes is the size of the pipe to a launcher: the events of some minutes.
const pipeBytes = 1 << 20

// Stream has the Reporter write each event as it comes, for a launcher. Training does not wait for a launcher that is
// stopped for some minutes.
func (r *Reporter) Stream() {
	r.Whole = true
	if f := fileOf(r); f != nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeBytes) // without it the pipe has the usual size
	}
}

// Write writes bytes to standard output as they are.
func (r *Reporter) Write(p []byte) (int, error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	n, err := r.out.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		r.fault.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Fault returns the first fault of a write to standard output, or nil.
func (r *Reporter) Fault() error {
	if err := r.fault.Load(); err != nil {
		return fmt.Errorf("standard output: %w", *err)
	}
	return nil
}

// Told reports whether the end of the process needs no further error event.
func (r *Reporter) Told() bool { return r.told }

// Reported returns err, which needs no further error event.
func (r *Reporter) Reported(err error) error {
	r.told = true
	return err
}

// Silent returns an error with a code and no text, because everything was reported; nil for code 0.
func (r *Reporter) Silent(code int) error {
	if code == exitcode.OK {
		return nil
	}
	return r.Reported(exitcode.With(code, errors.New("")))
}

// Emit writes an event that no view reads as one line of JSON, if JSON is selected.
func (r *Reporter) Emit(e report.Event) {
	if r.JSON {
		r.Stdout.Write(r.jsonOf(report.Stamped{Event: e, Time: time.Now()}))
	}
}

// Waiting reports the missing ranks of an incomplete start.
func (r *Reporter) Waiting(w rendezvous.Waiting) {
	if r.Rank <= 0 {
		r.Event(waitingEvent(w))
	}
	fmt.Fprintln(r.Stderr, "waiting: "+w.String())
}

// Fail reports the first cause of the job's end as this rank's last line; a rank alone has a line for
// each fault of a job. It returns a silent error with the exit code.
func (r *Reporter) Fail(c *ring.Cause) error {
	if r.Rank <= 0 {
		r.Event(Failure(c))
	}
	if !r.TellsEnd() {
		fmt.Fprintln(r.Stderr, "ringtrain: "+strings.ReplaceAll(c.Error(), "\n", "\nringtrain: "))
	}
	return r.Silent(max(c.ExitCode, exitcode.Failed))
}

// End reports the digest as this rank's last line, and before it the reason if the job
// was stopped.
func (r *Reporter) End(result train.Result, stop *ring.Cause) {
	whose := ""
	if stop != nil {
		if r.Rank == 0 {
			r.Event(Failure(stop))
		}
		if stop.Rank >= 0 && stop.Rank != r.Rank {
			whose = fmt.Sprintf(" to rank %d on %s", stop.Rank, stop.Host)
		}
	}
	if told := r.TellsEnd() || r.Whole && r.Watched; result.Stopped != 0 && !told { // the launcher tells it
		fmt.Fprintf(r.Stderr, "stopped by a signal%s after step %d\n", whose, result.Step)
	}
	switch {
	case r.Watched:
	case r.Whole && r.Rank == 0:
		r.Emit(report.Digest{Digest: result.Digest})
	default:
		r.Stderr.Write(digestLine(result.Digest))
	}
}

// Line prints a row of a table, or its event, on rank 0.
func (r *Reporter) Line(e report.Event) {
	switch {
	case r.Rank != 0:
	case r.JSON:
		r.Emit(e)
	default:
		fmt.Fprintln(r.Stdout, e)
	}
}

// Head prints the head of a table on rank 0, unless events are printed.
func (r *Reporter) Head(text string) {
	if r.Rank == 0 && !r.JSON {
		fmt.Fprintln(r.Stdout, text)
	}
}
