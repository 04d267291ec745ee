package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// digits is a small job of a built-in model on drawn digits.
func digits(steps int, more ...string) []string {
	return append([]string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "schedule.kind=constant",
		"--set", "train.steps=" + strconv.Itoa(steps),
	}, more...)
}

func on(ranks int, job []string) []string {
	return append([]string{"run", "-np", strconv.Itoa(ranks)}, job...)
}

// four returns the usual world size of these tests, two under -short.
func four(t *testing.T) int {
	t.Helper()
	if short(t) {
		return 2
	}
	return 4
}

// reference returns the digest of an undisturbed run of 10 steps.
func reference(t *testing.T) string {
	t.Helper()
	return newBox(t).must(0, on(four(t), digits(10))...).digest(t)
}

// TestSameDigest verifies that a run repeats to the bit, and that a resumed run equals
// an uninterrupted one.
func TestSameDigest(t *testing.T) {
	want := reference(t)
	t.Run("how=again", func(t *testing.T) {
		if got := reference(t); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	})
	t.Run("how=resumed", func(t *testing.T) {
		b := newBox(t)
		b.must(0, on(four(t), digits(5))...)
		e := b.must(0, on(four(t), digits(10, "--resume", "must"))...)
		if got := e.only(t, "start").num("restored_step"); got != 5 {
			t.Errorf("restored_step is %v, want 5", got)
		}
		if got := e.digest(t); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	})
	t.Run("how=finished", func(t *testing.T) {
		b := newBox(t)
		b.must(0, on(four(t), digits(10))...)
		e := b.must(0, on(four(t), digits(10))...)
		if got := e.digest(t); got != want {
			t.Errorf("a finished job ends with digest %s, want %s", got, want)
		}
		if strings.Contains(e.stdout, `"export"`) || strings.Contains(e.stdout, `"event":"step"`) {
			t.Errorf("a finished job that has its export trained or exported again:\n%s", e.stdout)
		}
		if err := os.RemoveAll(b.path("export")); err != nil {
			t.Fatal(err)
		}
		if got := b.must(0, on(four(t), digits(10))...).only(t, "export").text("path"); got != "export/mnist/1" {
			t.Errorf("a finished job whose export is gone exports to %q, want export/mnist/1", got)
		}
	})
}

// TestSameDigestBySlots is TestSameDigest for slots and the position in the data.
func TestSameDigestBySlots(t *testing.T) {
	job := func(steps int) []string {
		return on(2, []string{
			"ctr", "--json", "--set", "input.synthetic=true", "--set", "optimizer.name=adam", "--set", "train.steps=" + strconv.Itoa(steps),
		})
	}
	want := newBox(t).must(0, job(10)...).digest(t)
	b := newBox(t)
	b.must(0, job(5)...)
	if got := b.must(0, job(10)...).digest(t); got != want {
		t.Errorf("digest %s after a resume, want %s", got, want)
	}
}

// TestStoppedAndResumed verifies that a run stopped by SIGTERM and resumed ends with the
// digest of an uninterrupted run.
func TestStoppedAndResumed(t *testing.T) {
	steps := 6000 // more than a busy machine completes before the signal is heard
	if short(t) {
		steps = 3000
	}
	want := newBox(t).must(0, on(four(t), digits(steps))...).digest(t)
	b := newBox(t)
	p := b.start(on(four(t), digits(steps, "--set", "log.every=10"))...)
	p.await(`"event":"step"`)
	p.signal(syscall.SIGTERM)
	stopped := p.wait()
	if stopped.code != 143 {
		t.Fatalf("stopped by SIGTERM: code %d, want 143\n%s%s", stopped.code, stopped.stdout, stopped.stderr)
	}
	step := stopped.only(t, "checkpoint").num("step")
	e := b.must(0, on(four(t), digits(steps, "--resume", "must"))...)
	if got := e.only(t, "start").num("restored_step"); got != step || got >= float64(steps) {
		t.Errorf("resumed at step %v, want the checkpoint's, %v, before %d", got, step, steps)
	}
	if got := e.digest(t); got != want {
		t.Errorf("digest %s after a stop and a resume, want %s", got, want)
	}
}

// TestOtherWorldSizeResumes verifies that a job resumes with more or fewer ranks.
func TestOtherWorldSizeResumes(t *testing.T) {
	b := newBox(t)
	b.must(0, on(four(t), digits(5))...)
	for i, ranks := range []int{1, 3} {
		e := b.must(0, on(ranks, digits(10+5*i, "--resume", "must"))...)
		if got := e.only(t, "start").num("restored_step"); got != float64(5+5*i) {
			t.Errorf("%d ranks: restored_step is %v, want %d", ranks, got, 5+5*i)
		}
		if got := e.only(t, "done").num("steps"); got != float64(10+5*i) {
			t.Errorf("%d ranks: %v steps done, want %d", ranks, got, 10+5*i)
		}
	}
}

// TestWaysToStart verifies that a start by run, by RANK and WORLD_SIZE, by TF_CONFIG and
// by ringtrain's own options gives the same digest.
func TestWaysToStart(t *testing.T) {
	want := reference(t)
	train := append([]string{"train"}, digits(10)...)
	ways := map[string]func(b *box) []*testProcess{
		"RANK": func(b *box) []*testProcess {
			port := freePorts(t, 1)[0]
			return b.startRanks(four(t), train, func(rank int) []string { return rankVariables(rank, four(t), port) })
		},
		"TF_CONFIG": func(b *box) []*testProcess {
			ports := freePorts(t, four(t))
			return b.startRanks(four(t), train, func(rank int) []string { return []string{tfConfigVariable(ports, rank)} })
		},
		"options": func(b *box) []*testProcess {
			at := "127.0.0.1:" + strconv.Itoa(freePorts(t, 1)[0])
			meeting := b.start("rendezvous", "--listen", at, "--world-size", strconv.Itoa(four(t)))
			b.Cleanup(func() { // before the box ends its processes
				if e := meeting.wait(); e.code != 0 {
					b.Errorf("rendezvous ended with %d\n%s", e.code, e.stderr)
				}
			})
			meeting.await("rendezvous on")
			return b.startRanks(four(t), append(train, "--rendezvous", at, "--world-size", strconv.Itoa(four(t))), func(int) []string { return nil })
		},
	}
	for name, start := range ways {
		t.Run("way="+name, func(t *testing.T) {
			b := newBox(t)
			digest := ""
			for rank, p := range start(b) {
				e := p.wait()
				if e.code != 0 || e.last() != "digest="+want {
					t.Errorf("process %d ended with %d and %q, want 0 and digest=%s\n%s", rank, e.code, e.last(), want, e.stderr)
				}
				if strings.Contains(e.stdout, `"done"`) {
					digest = e.digest(t)
				}
			}
			if digest != want {
				t.Errorf("done says digest %q, want %s", digest, want)
			}
		})
	}
}
