package train

import (
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// lostRank is the cause of the end of a job that has lost a rank and has no restart.
func lostRank(rank int) *ring.Cause {
	return &ring.Cause{Rank: rank, Step: -1, Text: "lost rank", ExitCode: exitcode.Retry}
}

// TestSavedAtLoss kills each rank of three but rank 0 at each frame that it sends, in a job without
// restarts whose checkpoints are due at the end only. It verifies that rank 0 saves the state after
// its last whole step, and that a new start ends with the bits of a run without a kill.
func TestSavedAtLoss(t *testing.T) {
	for _, tt := range recoveries {
		t.Run("job="+tt.name, func(t *testing.T) {
			sets := append(tt.sets, "train.steps=0", "train.epochs=2", "checkpoint.every=0")
			whole := newProcesses(t, 3, loadText(t, tt.text, sets...), tt.data, nil)
			frames := map[int]*killedLink{1: {frames: -1}, 2: {frames: -1}}
			if !whole.runInMemory(frames) {
				t.Fatal(whole.members[0].err)
			}
			saved := 0
			for rank := 1; rank < 3; rank++ {
				for at := 0; at < frames[rank].sent; at += tt.stride {
					dir := filepath.Join(t.TempDir(), "ckpt")
					job := loadText(t, tt.text, append(sets, "checkpoint.dir="+dir)...)
					c := newProcesses(t, 3, job, tt.data, nil)
					c.runInMemory(map[int]*killedLink{rank: {frames: at}})
					m := c.members[0]
					m.trainer.Lost(0, lostRank(rank))
					m.releaseFolder(t)
					_, state, found, err := checkpoint.Newest(dir)
					if step := m.trainer.progress.step; err != nil || found != (step > 0) || state.Step != step {
						t.Fatalf("rank %d dies at frame %d: step %d is saved (%v), want %d", rank, at, state.Step, err, step)
					}
					if found && !state.Run.Finished {
						saved++
					}
					if got := newProcesses(t, 3, job, tt.data, nil).mustEnd()[0].result; got != whole.members[0].result {
						t.Fatalf("rank %d dies at frame %d: resumed at step %d the job ends with %+v, want %+v", rank, at, state.Step, got, whole.members[0].result)
					}
				}
			}
			if saved == 0 {
				t.Error("no loss amid training: nothing is shown")
			}
		})
	}
}

// TestLossLine verifies what a rank says at the end of a job that has lost a rank: which checkpoint
// the ranks know of if rank 0 is lost, why the state is not saved if the disk fails, and else the
// cause alone. After a fault of the job itself nothing is saved.
func TestLossLine(t *testing.T) {
	tests := []struct {
		name, sets string
		steps      int64 // until the loss
		rank       int   // that ends
		cause      *ring.Cause
		breaks     bool // the disk
		want       string
		saves      bool
	}{
		{"rank 0 is lost", "checkpoint.every=4", 7, 1, lostRank(0), false, "lost rank; the newest checkpoint is of step 4", true},
		{"rank 0 is lost early", "checkpoint.every=9", 7, 1, lostRank(0), false, "lost rank; no checkpoint is known", false},
		{"rank 0 is lost, no save has worked", "checkpoint.every=4", 7, 1, lostRank(0), true, "lost rank; no checkpoint is known", false},
		{"rank 2 is lost, rank 1 ends", "checkpoint.every=4", 7, 1, lostRank(2), false, "lost rank", true},
		{"rank 2 is lost", "checkpoint.every=0", 7, 0, lostRank(2), false, "lost rank", true},
		{"rank 2 is lost, the disk fails", "checkpoint.every=0", 7, 0, lostRank(2), true, "lost rank; the state after step 7 is not saved: ", false},
		{"bad records", "checkpoint.every=0", 7, 0, &ring.Cause{Text: "bad", ExitCode: exitcode.BadData}, false, "bad", false},
	}
	for _, tt := range tests {
		t.Run("end="+tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ckpt")
			members := trainOn(t, 3, loadText(t, clicksText, "checkpoint.dir="+dir, tt.sets), clicksData(), func(m *member) {
				m.end = func(step int64) error {
					if tt.breaks && step == 1 && m.rank == 0 {
						breakDisk(t, dir)
					}
					if step == tt.steps {
						return lostRank(2).GenerationEnded()
					}
					return nil
				}
			})
			for _, m := range members {
				if m.err == nil {
					t.Fatal("nobody is lost")
				}
			}
			got := members[tt.rank].trainer.Lost(tt.rank, tt.cause).Text
			if !strings.HasPrefix(got, tt.want) || !tt.breaks && got != tt.want {
				t.Errorf("rank %d says %q, want %q", tt.rank, got, tt.want)
			}
			if _, _, found, _ := checkpoint.Newest(dir); found != tt.saves {
				t.Errorf("a checkpoint is there: %t, want %t", found, tt.saves)
			}
		})
	}
}
