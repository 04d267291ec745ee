package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestStoppedRank verifies that the others, the launcher and the events name a rank of
// the job that was signalled to end.
func TestStoppedRank(t *testing.T) {
	for _, told := range []int{0, 2} {
		t.Run(fmt.Sprintf("rank=%d", told), func(t *testing.T) {
			b := newBox(t)
			p := b.start(append([]string{"run", "-np", "3", "--json"}, endless()...)...)
			p.await(`"event":"step"`)
			kill(t, b.rankPID(told), syscall.SIGTERM)
			e := p.wait()
			if e.code != 143 || !namesRank(e.last(), told) || !strings.Contains(e.last(), "stopped by a signal") {
				t.Errorf("the launcher ended with %d and %q, want 143 and rank %d", e.code, e.last(), told)
			}
			v := e.only(t, "error")
			checkFields(t, v)
			if v.num("rank") != float64(told) || v.num("exit_code") != 143 || v.num("step") != e.only(t, "checkpoint").num("step") {
				t.Errorf("want 143 of rank %d at the step of the checkpoint: %v", told, v)
			}
			for rank := range 3 {
				text := strings.Join(linesOf(e.stderr, rank), "\n")
				want := fmt.Sprintf("stopped by a signal to rank %d on ", told)
				if rank == told {
					want = "stopped by a signal after step "
				}
				if !strings.Contains(text, want) || !strings.HasPrefix(e.lastLine(rank), "digest=") {
					t.Errorf("rank %d says\n%s\nwant %q, and the digest last", rank, text, want)
				}
			}
		})
	}
}

// TestStoppedJob verifies that a signal to the launcher, or to the only rank, blames no
// rank and is in the events.
func TestStoppedJob(t *testing.T) {
	tests := []struct {
		name string
		args []string
		rank float64
		last string
	}{
		{"launcher", []string{"run", "-np", "2"}, -1, "ringtrain: stopped by signal 15 (terminated)"},
		{"only rank", []string{"train"}, 0, "digest="},
	}
	for _, tt := range tests {
		t.Run("who="+tt.name, func(t *testing.T) {
			p := newBox(t).start(append(append(tt.args, "--json"), endless()...)...)
			p.await(`"event":"step"`)
			p.signal(syscall.SIGTERM)
			e := p.wait()
			if v := e.only(t, "error"); e.code != 143 || v.num("exit_code") != 143 || v.num("rank") != tt.rank {
				t.Errorf("code %d and %v, want 143 and rank %v", e.code, v, tt.rank)
			}
			if !strings.HasPrefix(e.last(), tt.last) || strings.Contains(e.stderr, "to rank") {
				t.Errorf("want nobody blamed, and at last %q:\n%s", tt.last, e.stderr)
			}
		})
	}
}

// TestRunWithParent verifies that the ranks of a launcher end at a step that is saved, as after TERM, when the process
// that started the launcher is killed.
func TestRunWithParent(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.startProgram("sh", "-c", `"$0" run --with-parent -np 2 linear --set train.epochs=100000000 --set checkpoint.dir=ckpt & exec sleep 1000`, self(b))
	p.await("epochs")
	p.signal(os.Kill)
	e := p.wait() // after the launcher, too, has closed its outputs
	if !strings.Contains(e.stderr, "stopped by signal 15 (terminated)") || !strings.Contains(e.stdout+e.stderr, "checkpoint ckpt/step-") {
		t.Errorf("the launcher says\n%s%s", e.stdout, e.stderr)
	}
	b.nothingLeft(patience, nil)
}
