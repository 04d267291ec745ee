package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// TestLeave verifies that a rank that is told to leave does so after the step in flight, that the other
// ranks go on with their state, and that the job ends with the bits of a run without the departure. An
// evaluation that is due at that step happens in the next generation. Rank 0 saves before it leaves.
func TestLeave(t *testing.T) {
	whole := mustTrain(t, 3, loadText(t, clicksText, "eval.every=4"), clicksData(), nil)[0]
	for _, leaving := range [][]int{{0}, {1}, {2}, {0, 2}, {1, 2}} {
		t.Run(fmt.Sprintf("ranks=%v", leaving), func(t *testing.T) {
			dir := t.TempDir()
			job := loadText(t, clicksText, "eval.every=4", "checkpoint.every=4", "checkpoint.keep=9", "checkpoint.dir="+dir)
			c := newProcesses(t, 3, job, clicksData(), func(m *member) {
				if slices.Contains(leaving, m.rank) {
					m.team.Leave = m.signalAfter(4, exitcode.Interrupted)
				}
			})
			c.runInMemory(nil)
			for _, m := range c.members {
				r, leaves := m.result, slices.Contains(leaving, m.rank)
				if leaves && (m.err != nil || r.Stopped != exitcode.Interrupted || !r.Alone || r.Step != 4 || len(r.Digest) != 64) {
					t.Errorf("rank %d, which leaves, ended with %+v, %v", m.rank, r, m.err)
				}
				if !leaves && (m.err == nil || r.Step != 4 || r.Stopped != 0 || r.Alone) {
					t.Errorf("rank %d ended with %+v, %v, want a failure after step 4", m.rank, r, m.err)
				}
			}
			_, _, found, err := checkpoint.Newest(dir)
			if err != nil || found != (leaving[0] == 0) {
				t.Errorf("there is a checkpoint: %t, %v; want one of rank 0 that leaves", found, err)
			}
			c.change = nil
			c.kill(leaving...)
			m := c.mustEnd()[0]
			if m.result != whole.result {
				t.Errorf("ended with %+v, want %+v", m.result, whole.result)
			}
			if evals := eventsOf[report.Metrics](m); len(evals) != 3 || evals[0].Step != 4 {
				t.Errorf("evaluations are %+v, want those of steps 4, 8 and 10", evals)
			}
			if got := len(glob(t, filepath.Join(dir, "step-*"))); got != 3 {
				t.Errorf("%d checkpoints are there, want 3", got)
			}
		})
	}
}

// TestSignalInEachPhase tells all ranks to stop, or one of them to leave, when rank 0 begins a phase. It
// verifies that each signalled rank ends with the code of the signal, that the job is not done, that a
// rank 0 that is told publishes no export, and that it saves the state after the last whole step. So
// nothing but a step, or the writing of a checkpoint or of an export, lies between a signal and the end.
func TestSignalInEachPhase(t *testing.T) {
	for _, at := range []struct {
		phase       string
		step, saved int64 // at which the phase begins, and of the checkpoint after the signal; 0: none
	}{
		{"restore", 0, 0}, {"train", 0, 1}, {"train", 2, 3}, {"evaluate", 2, 3}, {"checkpoint", 2, 3},
		{"checkpoint", 6, 6}, {"evaluate", 6, 6}, {"export", 6, 6},
	} {
		for _, leaves := range []int{-1, 0, 1} { // -1: all stop
			if at.step == 6 && leaves == 1 {
				continue // rank 1 may wait for rank 0 in an operation, which looks at its context every 0.1 s
			}
			t.Run(fmt.Sprintf("phase=%s/step=%d/leaves=%d", at.phase, at.step, leaves), func(t *testing.T) {
				dir := t.TempDir()
				job := loadText(t, clicksText, "train.steps=6", "eval.every=2", "checkpoint.every=2", "checkpoint.dir="+dir+"/ckpt", "export.savedmodel="+dir+"/export")
				signal, cancel := context.WithCancelCause(context.Background())
				tell := sync.OnceFunc(func() { cancel(exitcode.With(exitcode.Terminated, errors.New("stopped by a signal"))) })
				members := trainOn(t, 2, job, clicksData(), func(m *member) {
					if leaves < 0 {
						m.team.Stop = signal
					} else if m.rank == leaves {
						m.team.Leave = signal
					}
					m.team.Progress = func(step int64, phase string) {
						if m.rank == 0 && phase == at.phase && step == at.step {
							tell()
						}
					}
				})
				for _, m := range members {
					told := leaves < 0 || m.rank == leaves
					if told && m.code() != exitcode.Terminated {
						t.Errorf("rank %d ended with %d, %+v, %v, want 143", m.rank, m.code(), m.result, m.err)
					}
					if told && m.err != nil {
						m.trainer.Lost(m.rank, m.cause())
					}
				}
				if done := eventsOf[report.Done](members[0]); len(done) > 0 {
					t.Errorf("the job is done: %+v", done)
				}
				if leaves == 1 {
					return
				}
				if got := glob(t, filepath.Join(dir, "export", "[0-9]*")); len(got) > 0 {
					t.Errorf("exports %v are there, want none", got)
				}
				_, state, _, err := checkpoint.Newest(filepath.Join(dir, "ckpt"))
				if err != nil || state.Step > at.saved || state.Step < at.saved-1 {
					t.Errorf("the newest checkpoint is of step %d, %v; want step %d or the one before", state.Step, err, at.saved)
				}
			})
		}
	}
}

// TestSignalBeforeTheJoin verifies that the opening of records ends with the cause of its context.
func TestSignalBeforeTheJoin(t *testing.T) {
	dir := t.TempDir()
	cfg := writeDigits(t, dir, 1000)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exitcode.With(exitcode.Terminated, errors.New("stopped by a signal")))
	if _, err := Prepare(ctx, cfg, Options{Roots: []string{dir}, Resume: "auto"}); exitcode.Of(err) != exitcode.Terminated {
		t.Errorf("error %v with code %d, want that of the signal", err, exitcode.Of(err))
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
