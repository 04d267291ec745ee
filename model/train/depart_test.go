package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestDepart verifies that a rank that asks to leave does so after the step in which it asked, that
// the other ranks learn its number, and that the job ends with the bits of a run without the
// departure. An evaluation that is due at that step happens in the next generation. A checkpoint
// does too, unless rank 0 leaves: it saves first.
func TestDepart(t *testing.T) {
	whole := mustTrain(t, 3, loadText(t, clicksText, "eval.every=4"), clicksData(), nil)[0]
	for _, leaving := range [][]int{{0}, {1}, {2}, {0, 2}, {1, 2}} {
		t.Run(fmt.Sprintf("ranks=%v", leaving), func(t *testing.T) {
			dir := t.TempDir()
			job := loadText(t, clicksText, "eval.every=4", "checkpoint.every=4", "checkpoint.keep=9", "checkpoint.dir="+dir)
			c := newProcesses(t, 3, job, clicksData(), nil)
			for _, rank := range leaving {
				c.members[rank].trainer.opts.Depart = since(4)
			}
			c.runInMemory(nil)
			for _, m := range c.members {
				wantDeparted(t, m, leaving, 4)
			}
			_, _, found, err := checkpoint.Newest(dir)
			if err != nil || found != (leaving[0] == 0) {
				t.Errorf("there is a checkpoint: %t, %v; want one of rank 0 that leaves", found, err)
			}
			c.kill(leaving...)
			m := c.mustEnd()[0]
			if m.result != whole.result {
				t.Errorf("ended with %+v, want %+v", m.result, whole.result)
			}
			if evals := eventsOf[report.Metrics](m); len(evals) != 3 || evals[0].Step != 4 {
				t.Errorf("evaluations are %+v, want those of steps 4, 8 and 10", evals)
			}
			if got := len(eventsOf[report.Checkpointed](m)); leaving[0] != 0 && got != 3 || leaving[0] == 0 && got != 2 {
				t.Errorf("%d checkpoints in the process that ends as rank 0", got)
			}
			if got := len(glob(t, filepath.Join(dir, "step-*"))); got != 3 {
				t.Errorf("%d checkpoints are there, want 3", got)
			}
		})
	}
}

// since asks before the n-th step and from then on.
func since(n int) func() bool {
	asked := 0
	return func() bool {
		asked++
		return asked >= n
	}
}

// wantDeparted checks how a rank ends a generation that some ranks leave.
func wantDeparted(t *testing.T, m *member, leaving []int, step int64) {
	t.Helper()
	if slices.Contains(leaving, m.rank) {
		if r := m.result; m.err != nil || r.Stopped != exitcode.Terminated || !r.Alone || r.Step != step || len(r.Digest) != 64 {
			t.Errorf("rank %d, which leaves, ended with %+v, %v", m.rank, r, m.err)
		}
		return
	}
	d, ok := errors.AsType[*Departed](m.err)
	if !ok || !slices.Equal(d.Ranks, leaving) || d.Step != step {
		t.Errorf("rank %d ended with %v, want that %v have left after step %d", m.rank, m.err, leaving, step)
	}
	if !errors.Is(m.err, ring.ErrGenerationEnded) || exitcode.Of(m.err) != exitcode.Retry || m.result.Step != step || m.result.Stopped != 0 || m.result.Alone {
		t.Errorf("rank %d ended with code %d, %+v", m.rank, exitcode.Of(m.err), m.result)
	}
}

// TestAllDepart verifies that a job stops with a checkpoint if all ranks ask to leave at once, as
// after a signal to all ranks. A job that is stopping or at its last step lets no rank leave.
func TestAllDepart(t *testing.T) {
	tests := []struct {
		name  string
		stop  int // asked for by rank 0 at step 4
		ranks []int
		from  int
		want  Result
	}{
		{"all", 0, []int{0, 1, 2}, 4, Result{Stopped: 143, Step: 4}},
		{"one of a job that stops", 130, []int{1}, 4, Result{Stopped: 130, Step: 4}},
		{"one at the last step", 0, []int{1}, 10, Result{Step: 10}},
	}
	for _, tt := range tests {
		t.Run("asks="+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			m := mustTrain(t, 3, loadText(t, clicksText, "checkpoint.dir="+dir), clicksData(), func(m *member) {
				if slices.Contains(tt.ranks, m.rank) {
					m.opts.Depart = since(tt.from)
				}
				if m.rank == 0 {
					m.opts.Stop = stopAfter(4, tt.stop)
				}
			})[0]
			if m.result.Digest = ""; m.result != tt.want {
				t.Errorf("ended with %+v, want %+v", m.result, tt.want)
			}
			if s, err := checkpoint.Load(dir); err != nil || s.Step != tt.want.Step {
				t.Errorf("the checkpoint is of step %d, %v; want %d", s.Step, err, tt.want.Step)
			}
		})
	}
}

// TestCheckpointAsked verifies that a checkpoint that any rank asks for is written once, after the
// coming step.
func TestCheckpointAsked(t *testing.T) {
	for asks := range 3 {
		m := mustTrain(t, 3, loadText(t, clicksText, "checkpoint.dir="+t.TempDir()), clicksData(), func(m *member) {
			if m.rank == asks {
				m.opts.Checkpoint = once(4)
			}
		})[0]
		if saved := eventsOf[report.Checkpointed](m); len(saved) != 2 || saved[0].Step != 4 {
			t.Errorf("rank %d asks at step 4: checkpoints %+v, want one of it and one at the end", asks, saved)
		}
	}
}

// TestPhases verifies that the rendezvous receives each phase of a rank, so that it does not report
// a rank that evaluates as stalled.
func TestPhases(t *testing.T) {
	job := loadText(t, clicksText, "train.steps=3", "eval.every=2", "checkpoint.every=2",
		"checkpoint.dir="+t.TempDir(), "export.savedmodel="+t.TempDir())
	var got []string
	mustTrain(t, 2, job, clicksData(), func(m *member) {
		if m.rank == 0 {
			m.team.Progress = func(step int64, phase string) { got = append(got, fmt.Sprint(step, " ", phase)) }
		}
	})
	want := []string{"0 restore", "0 train", "1 train", "2 train", "2 evaluate", "2 checkpoint", "2 train",
		"3 train", "3 checkpoint", "3 evaluate", "3 export", "3 end"}
	if !slices.Equal(got, want) {
		t.Errorf("phases are %q, want %q", got, want)
	}
}
