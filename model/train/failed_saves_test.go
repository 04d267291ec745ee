package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// breakDisk replaces a folder by a file.
func breakDisk(t *testing.T, dir string) {
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(dir, nil, 0o666); err != nil {
		t.Error(err)
	}
}

// inPhase calls do on rank 0 when it enters a phase after a step.
func inPhase(m *member, step int64, phase string, do func()) {
	next := m.team.Progress
	m.team.Progress = func(s int64, p string) {
		if next != nil {
			next(s, p)
		}
		if m.rank == 0 && s == step && p == phase {
			do()
		}
	}
}

// TestFailedSave has the disk fail for one checkpoint during training. It verifies that the
// job continues with a warning, and that the next interval saves.
func TestFailedSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	job := loadText(t, clicksText, "checkpoint.dir="+dir, "checkpoint.every=2")
	m := mustTrain(t, 3, job, clicksData(), func(m *member) {
		inPhase(m, 4, "checkpoint", func() { breakDisk(t, dir) })
		inPhase(m, 6, "checkpoint", func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
	})[0]
	var steps []int64
	for _, e := range eventsOf[report.Checkpointed](m) {
		steps = append(steps, e.Step)
	}
	if got := fmt.Sprint(steps, countKind(m, "warning")); got != "[2 6 8 10] 1" {
		t.Errorf("checkpoints and warnings are %s, want those of steps 2, 6, 8, 10 and one warning", got)
	}
}

func countKind(m *member, kind string) int {
	n := 0
	for _, k := range kinds(m) {
		if k == kind {
			n++
		}
	}
	return n
}

// TestFailedSaveInterval has the disk fail until the end while checkpoints are due by time. It
// verifies that a failed checkpoint is not tried again before the next interval. The clock is fake;
// each step takes a second.
func TestFailedSaveInterval(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	job := loadText(t, clicksText, "checkpoint.dir="+dir, "checkpoint.every=3s", "train.steps=12")
	data := clicksData()
	synctest.Test(t, func(t *testing.T) {
		m := trainOn(t, 2, job, data, func(m *member) {
			done := int64(0)
			m.team.Progress = func(step int64, phase string) {
				if phase == "train" && step > done {
					done = step
					time.Sleep(time.Second)
				}
			}
			inPhase(m, 1, "train", func() { breakDisk(t, dir) })
		})[0]
		// Rank 0 asks for due work before a step; ranks do it after the step: at 4, 8 and the end.
		if n := countKind(m, "warning"); n != 2 || m.code() != exitcode.IO {
			t.Errorf("%d warnings and code %d (%v), want 2 and %d", n, m.code(), m.err, exitcode.IO)
		}
	})
}

// TestFailedLastSave has the disk fail for the last checkpoint of a run: at its end, after a
// signal, and when rank 0 leaves. It verifies exit code 74 and the reason in the message.
func TestFailedLastSave(t *testing.T) {
	for _, tt := range []struct {
		name string
		step int64
		ask  func(m *member)
	}{
		{"end", 10, func(*member) {}},
		{"stop", 6, func(m *member) { m.stopAfter(6, exitcode.Terminated) }},
		{"leave", 6, func(m *member) {
			if m.rank == 0 {
				m.team.Leave = m.signalAfter(6, exitcode.Terminated)
			}
		}},
	} {
		t.Run("last="+tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ckpt")
			members := trainOn(t, 3, loadText(t, clicksText, "checkpoint.dir="+dir), clicksData(), func(m *member) {
				tt.ask(m)
				inPhase(m, tt.step, "checkpoint", func() { breakDisk(t, dir) })
			})
			m := members[0]
			if m.err == nil || m.cause().ExitCode != exitcode.IO || !strings.Contains(m.cause().Text, dir) {
				t.Errorf("rank 0 ended with %v (%d), want code %d and the path", m.err, m.code(), exitcode.IO)
			}
		})
	}
}
