package state

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// TestSimulation verifies, in thousands of random lives of a job, what must always hold: a job is
// not split, a rank has one owner, no worker waits for ever, no generation is used twice, and all
// hear one cause. Workers join, stop, die, return, blame others and leave. Messages take time. The
// rendezvous stands still. The seed of a failure repeats it.
//
// RINGTRAIN_SIMULATE=N plays N lives.
func TestSimulation(t *testing.T) {
	lives, few := uint64(2000), uint64(5)
	if testing.Short() {
		t.Log("long: more lives")
		lives, few = 200, 0
	}
	if n, err := strconv.ParseUint(os.Getenv("RINGTRAIN_SIMULATE"), 10, 64); err == nil {
		lives = n
	}
	ends := map[string]int{}
	for seed := range lives {
		w := newSimulation(seed)
		if err := w.live(); err != nil {
			w = newSimulation(seed) // once more, with a log
			w.logs = true
			w.live()
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(w.log, "\n"))
		}
		for _, end := range w.ends() {
			ends[end]++
		}
	}
	for _, end := range []string{
		"clean", "open", "lost", "own", "blamed", "gave up", "missing", "did not return", "stopped", "killed",
		"recovered", "departed", "joined again", "paused",
	} {
		if uint64(ends[end]) < few {
			t.Errorf("only %d of %d lives have %q: the simulation says nothing about it; all: %v", ends[end], lives, end, ends)
		}
	}
}

// The configuration of all simulations.
const simulatedTimeout, simulatedLease = 20 * time.Second, 5 * time.Second

// live plays a life: first with faults, then without faults for so long that the job must have
// ended or must run again.
func (w *simulation) live() error {
	for range 60 + w.r.IntN(200) {
		if err := w.moment(true); err != nil {
			return err
		}
	}
	const enough = 20 * time.Second
	limit, restless := w.now+10*simulatedTimeout, w.now
	for w.now < limit && w.now < restless+enough {
		if err := w.moment(false); err != nil {
			return err
		}
		if w.atRest() != nil {
			restless = w.now
		}
	}
	return w.atRest()
}

// moment lets time pass and processes act.
func (w *simulation) moment(faults bool) error {
	if faults {
		w.now += time.Duration(w.r.IntN(400)) * time.Millisecond
		w.strike()
	} else {
		w.now += longestPause
	}
	for _, p := range w.procs {
		p.act(w)
	}
	if w.err == nil {
		w.deliver()
	}
	if w.err == nil {
		w.answer()
	}
	if w.err == nil {
		w.step(Tick{})
	}
	return w.err
}

// atRest returns an error if a process waits: the job must have ended for all, or run with all
// workers in the newest generation.
func (w *simulation) atRest() error {
	switch w.s.phase {
	case phaseWaiting, phaseRecovering:
		return fmt.Errorf("phase %d at %v, long after the last fault", w.s.phase, w.now)
	case phaseFinished:
		for _, p := range w.procs {
			if p.alive && !p.frozen {
				return fmt.Errorf("process %d of rank %d still lives after the end", p.id, p.rank)
			}
		}
		if !w.ended {
			return fmt.Errorf("finished, and the owner was not told")
		}
	case phaseRunning:
		n := 0
		for _, p := range w.procs {
			if p.alive && !p.frozen && p.generation == w.s.generation && p.doing == training {
				n++
			}
		}
		if n != w.size {
			return fmt.Errorf("running, with %d of %d workers in generation %d", n, w.size, w.s.generation)
		}
	}
	return nil
}

// ends returns words for the events of the life.
func (w *simulation) ends() []string {
	var all []string
	for word, had := range map[string]bool{
		"recovered": w.s.generation > 1, "departed": w.departures > 0, "joined again": w.retries > 0, "paused": w.pauses > 0,
	} {
		if had {
			all = append(all, word)
		}
	}
	switch {
	case !w.ended:
		return append(all, "open")
	case w.cause == nil:
		return append(all, "clean")
	}
	for _, word := range []string{"gave up", "did not return", "missing", "lost", "own", "blamed", "stopped", "killed", "left after"} {
		if strings.Contains(w.cause.Text, word) {
			return append(all, word)
		}
	}
	return append(all, w.cause.Text)
}

// step applies an event to the state and checks the effects.
func (w *simulation) step(e Event) {
	first, fruitful, here := w.s.firstCause, w.s.stepCompleted, slices.Clone(w.s.members)
	effects := w.s.Step(w.now, e)
	if _, ok := e.(Tick); ok {
		w.countSlow(here)
	}
	if w.s.stepCompleted && !fruitful {
		first = nil // e reports a completed step
	}
	if w.s.restartsUsed > w.c.Restarts && w.s.phase != phaseFinished {
		w.fail("%d restarts, of %d", w.s.restartsUsed, w.c.Restarts)
	}
	if w.s.restartsUsed > w.faults {
		w.fail("%d restarts are used up by %d faults", w.s.restartsUsed, w.faults)
	}
	w.note("%v %T%+v", w.now, e, e)
	for _, f := range effects {
		w.note("        %T%+v", f, f)
		if end, ok := f.(Finish); ok && first != nil && end.Cause != nil && end.Cause.ExitCode == exitcode.Retry &&
			!strings.Contains(end.Cause.Text, first.Text) {
			w.fail("the end is %v, the first cause since the last step %v", end.Cause, first)
		}
	}
	for _, f := range effects {
		if w.take(f); w.err != nil {
			return
		}
	}
}

// take checks one effect against all earlier ones and performs it.
func (w *simulation) take(f Effect) {
	switch f := f.(type) {
	case Finish:
		w.finish(f)
	case Probe:
		w.probes = append(w.probes, f)
	case SendMembership:
		w.send(f.Stream, f, false)
	case SendEndGeneration:
		w.send(f.Stream, f, false)
	case SendResumed:
		w.send(f.Stream, f, false)
	case SendStop:
		w.send(f.Stream, f, false)
	case SendLeaveAlone:
		w.send(f.Stream, f, false)
	case SendWaiting:
		w.send(f.Stream, f, false)
	case SendNotice:
		w.send(f.Stream, f, false)
	case SendRefused:
		w.send(f.Stream, f, true)
	case SendEnd:
		w.send(f.Stream, f, true)
	case SendAbort:
		w.send(f.Stream, f, true)
		w.oneCause(f.Cause)
	}
}

func (w *simulation) finish(f Finish) {
	if w.ended {
		w.fail("a second end")
	}
	w.ended = true
	if f.Cause != nil {
		w.oneCause(f.Cause)
	} else if w.cause != nil {
		w.fail("a clean end after %v", w.cause)
	}
}

// send puts a message on its way to a worker, whose stream must be open.
func (w *simulation) send(id uint64, f Effect, last bool) {
	c := w.streams[id]
	if c == nil || c.told || c.broken {
		w.fail("%T for stream %d, which is gone", f, id)
		return
	}
	c.told = last
	c.down = append(c.down, f)
}
