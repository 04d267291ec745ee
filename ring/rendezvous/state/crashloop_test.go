package state

import (
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
)

// crashLoopJob is a job of two ranks whose rank 1 is lost again and again.
type crashLoopJob struct {
	s     *State
	now   time.Duration
	last  uint64 // number of the newest stream
	alive [2]uint64
	end   *Finish
}

func newCrashLoopJob(restarts int) *crashLoopJob {
	return &crashLoopJob{s: New(Config{DefaultJobID: "j", WorldSize: 2, StartTimeout: time.Hour, Lease: 5 * time.Second, Restarts: restarts, Unique: true, NewLife: func() (life [16]byte) { return life }})}
}

func (l *crashLoopJob) step(e Event) {
	l.now += 10 * time.Millisecond
	for _, f := range l.s.Step(l.now, e) {
		if end, ok := f.(Finish); ok {
			l.end = &end
		}
	}
}

func (l *crashLoopJob) join(rank int) {
	l.last++
	l.alive[rank] = l.last
	l.step(Joined{l.last, Request{Rank: rank, WorldSize: 2, Protocol: 1, Worker: ring.Worker{Rank: rank, Incarnation: l.last}}})
}

// generation plays one generation, which completes a step or does not, and which rank 1 ends.
func (l *crashLoopJob) generation(completes bool) {
	l.join(1)
	step := int64(-1)
	if completes {
		step = 100 * int64(l.last)
		l.step(Heartbeat{Stream: l.alive[0], Step: step - 1, Phase: "train"})
		l.step(Heartbeat{Stream: l.alive[0], Step: step, Phase: "train"})
	}
	l.step(StreamBroken{Stream: l.alive[1], Reason: "connection reset"})
	l.step(ProcessExited{Rank: 1, Text: "killed by signal 9", Code: 138})
	l.step(ReadyForNext{l.alive[0], l.s.known.Fence.Generation, max(step, l.s.run.startStep)})
}

// TestCrashLoopProgress verifies that a rank that fails again and again does not end a job that
// completes steps, and that five generations in a row without a step do. It also verifies that the
// cause names the rank, the reason and the restarts left.
func TestCrashLoopProgress(t *testing.T) {
	l := newCrashLoopJob(100)
	l.join(0)
	for i := range 10 {
		l.generation(true)
		if l.end != nil {
			t.Fatalf("the job ends by loss %d although each generation completed a step: %v", i+1, l.end.Cause)
		}
	}
	for i := range 4 {
		l.generation(false)
		if l.end != nil {
			t.Fatalf("the job ends by generation %d without a completed step: %v", i+1, l.end.Cause)
		}
	}
	l.generation(true)
	for range 5 {
		l.generation(false)
	}
	if l.end == nil || l.end.Cause == nil {
		t.Fatalf("five generations in a row without a completed step, and the job goes on")
	}
	for _, want := range []string{"gave up: rank 1 ended each of 5 generations in a row without a completed step", "80 restarts were left"} {
		if !strings.Contains(l.end.Cause.Text, want) {
			t.Errorf("the cause is %q, want %q in it", l.end.Cause.Text, want)
		}
	}
}

// TestRestoredStep verifies that a step that was restored from a checkpoint does not count as
// completed in a generation.
func TestRestoredStep(t *testing.T) {
	l := newCrashLoopJob(100)
	for range 5 {
		l.join(0)
		l.join(1)
		l.step(Heartbeat{Stream: l.alive[0], Step: -1, Phase: "restore"})
		l.step(Heartbeat{Stream: l.alive[0], Step: 500, Phase: "train"})
		for rank := range 2 {
			l.step(StreamBroken{Stream: l.alive[rank], Reason: "connection reset"})
			l.step(ProcessExited{Rank: rank, Text: "killed by signal 9", Code: 138})
		}
	}
	l.join(0)
	if l.end == nil || !strings.Contains(l.end.Cause.Text, "gave up") {
		t.Errorf("five generations restored step 500 and completed none, and the end is %v", l.end)
	}
}

// TestNeverJoined verifies that a rank whose program never joins is started again after a
// signal, and is given up after five exits within 10 s of their start.
func TestNeverJoined(t *testing.T) {
	l := newCrashLoopJob(100)
	for i := range 5 {
		if l.end != nil {
			t.Fatalf("the job ends by process %d of rank 1: %v", i+1, l.end.Cause)
		}
		l.step(ProcessExited{Rank: 1, Text: "killed by signal 11", Code: 138})
	}
	if l.end == nil || !strings.Contains(l.end.Cause.Text, "killed by signal 11; gave up: rank 1 ended 5 times in a row within 10s") {
		t.Errorf("the end is %v, want that rank 1 is given up", l.end)
	}
}

// TestRestartsLeft verifies that a process that ends before it joins uses a restart, and that
// the loss of a member uses one restart, not two. It also verifies that the cause says when no
// restart is left.
func TestRestartsLeft(t *testing.T) {
	l := newCrashLoopJob(3)
	left := func(want int) {
		t.Helper()
		if got := l.s.Status(l.now).RestartsLeft; got != want || l.end != nil {
			t.Errorf("%d restarts are left and the end is %v, want %d and none", got, l.end, want)
		}
	}
	l.join(0)
	l.generation(true)
	left(2)
	l.step(ProcessExited{Rank: 1, Text: "killed by signal 9", Code: 138})
	left(1)
	l.generation(true)
	left(0)
	l.step(ProcessExited{Rank: 1, Text: "killed by signal 9", Code: 138})
	if l.end == nil || !strings.Contains(l.end.Cause.Text, "no restart is left of --restarts 3") {
		t.Errorf("the end is %v, want that no restart is left", l.end)
	}
}
