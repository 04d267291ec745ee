package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/export/checkpoint"
)

// stopInSave stops rank 0 during the write of a checkpoint into dir.
func stopInSave(t *testing.T, p *testProcess, dir string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if len(globOf(t, dir, "step-*.tmp-*")) == 0 {
			continue
		}
		p.signal(syscall.SIGSTOP)
		eventually(t, patience, "the stop", func() bool {
			state, _ := stateOf(p.cmd.Process.Pid)
			return state == 'T'
		})
		if len(globOf(t, dir, "step-*.tmp-*")) > 0 {
			return
		}
		p.signal(syscall.SIGCONT) // the save was faster
	}
	t.Fatal("rank 0 was never met in a save")
}

func globOf(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestFrozenRank stops rank 0 during a save, replaces it by a process on another
// host with the same folder, starts a second job on the folder, and resumes the first
// rank 0. It verifies that the second job is refused with the holder's name, that each
// checkpoint reported after the takeover loads and the newest is named, and that the
// resumed process ends with 138 within 10 s.
func TestFrozenRank(t *testing.T) {
	job := endless("--json", "--set", "checkpoint.every=1", "--set", "checkpoint.keep=100000", "--set", "export.savedmodel=")
	c := newCompany(t, job, "--restarts", "1", "--lease", "2s", "--job-id", "frozen")
	ckpt := c.path("ckpt", "mnist")
	ranks := c.ranks()
	ranks[0].await(`"event":"checkpoint"`)
	stopInSave(t, ranks[0], ckpt)
	ranks[1].await("generation 1 has ended: ")
	old := ranks[0]
	c.job = append(job, "--host-id", "another")
	ranks[0] = c.rank(0)
	ranks[0].await(`"event":"checkpoint"`)

	if e := c.run("train", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=5"); e.code != 138 || !strings.Contains(e.last(), "in use by job frozen (pid ") {
		t.Errorf("a second job ends with %d and %q, want 138 and who has the folder", e.code, e.last())
	}
	woken := time.Now()
	old.signal(syscall.SIGCONT)
	if e := old.wait(); e.code != 138 || time.Since(woken) > 10*time.Second {
		t.Errorf("the woken rank 0 ended with %d after %v, want 138 within 10 s\n%s", e.code, time.Since(woken), e.stderr)
	}
	for _, p := range ranks {
		p.signal(syscall.SIGTERM)
	}
	saved := ranks[0].wait().ofKind(t, "checkpoint")
	for _, v := range saved {
		if s, err := checkpoint.Load(c.path(v.text("path"))); err != nil || s.Step != int64(v.num("step")) {
			t.Errorf("%s, reported after the takeover, has step %d, error %v", v.text("path"), s.Step, err)
		}
	}
	last := filepath.Base(saved[len(saved)-1].text("path"))
	if text := c.read("ckpt", "mnist", "checkpoint"); !strings.HasPrefix(text, `model_checkpoint_path: "`+last+`/model.ckpt"`) {
		t.Errorf("the state file begins with %q, want %s", text[:min(len(text), 60)], last)
	}
	if left := globOf(t, ckpt, "*.tmp-*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
