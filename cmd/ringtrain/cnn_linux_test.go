package main

import (
	"fmt"
	"syscall"
	"testing"
)

// images has jobs with convolutions, dropout or a residual block on drawn digits.
func images(kind string, steps int, more ...string) []string {
	return append([]string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "model.kind=" + kind, "--set", "loss.reduction=mean",
		"--set", "optimizer.name=adam", "--set", "optimizer.learning_rate=0.001", "--set", "input.batch=16",
		"--set", fmt.Sprintf("train.steps=%d", steps), "--set", "log.every=5", "--set", "export.savedmodel=",
	}, more...)
}

// TestNetworkDigests verifies that a network trains to the same bits again: on one
// thread and on two, killed and recovered, stopped and resumed.
func TestNetworkDigests(t *testing.T) {
	long(t)
	for _, kind := range []string{"cnn", "cnn-small"} {
		t.Run("kind="+kind, func(t *testing.T) {
			job := images(kind, 60)
			on := func(job []string) []string { return append([]string{"run", "-np", "2"}, job...) }
			want := newBox(t).must(0, on(job)...).digest(t)

			one := newBox(t).must(0, append([]string{"train"}, job...)...).digest(t)
			if got := newBox(t).with("GOMAXPROCS=1").must(0, append([]string{"train"}, job...)...).digest(t); got != one {
				t.Errorf("digest %s on one thread, %s on all", got, one)
			}

			killed := newBox(t)
			p := killed.start(append([]string{"run", "-np", "2", "--restarts", "2"}, job...)...)
			p.await(`"event":"step"`)
			kill(t, killed.rankPID(1), syscall.SIGKILL)
			e := p.wait()
			if got := e.digest(t); e.code != 0 || got != want {
				t.Errorf("after a kill -9: code %d, digest %s, want 0 and %s\n%s", e.code, got, want, e.stderr)
			}
			if e.only(t, "generation").num("generation") != 2 {
				t.Errorf("no second generation:\n%s", e.stdout)
			}

			b := newBox(t)
			p = b.start(on(job)...)
			p.await(`"event":"step"`)
			p.signal(syscall.SIGTERM)
			if e := p.wait(); e.code != 143 {
				t.Fatalf("stopped with code %d, want 143\n%s", e.code, e.stderr)
			}
			e = b.must(0, on(append(job, "--resume", "must"))...)
			if got := e.digest(t); got != want || e.only(t, "start").num("restored_step") < 5 {
				t.Errorf("digest %s after a stop and a resume, want %s\n%s", got, want, e.stdout)
			}
		})
	}
}
