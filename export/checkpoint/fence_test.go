package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/bundle"
)

// frozenFS calls frozen before the n-th call after the first one that names the folder
// of a step: it simulates a suspended process.
type frozenFS struct {
	step   string
	n      int
	calls  int
	frozen func() // runs during the suspension
}

func (f *frozenFS) call(name string) {
	if f.calls == 0 && (f.step == "" || !strings.Contains(name, f.step)) {
		return
	}
	if f.calls++; f.calls == f.n {
		f.frozen()
	}
}

func (f *frozenFS) Create(name string) (bundle.File, error) {
	f.call(name)
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{out, f}, nil
}

func (f *frozenFS) Mkdir(name string) error {
	f.call(name)
	return os.Mkdir(name, 0o777)
}

func (f *frozenFS) Rename(from, to string) error {
	f.call(from)
	return os.Rename(from, to)
}

func (f *frozenFS) Remove(name string) error {
	f.call(name)
	return os.Remove(name)
}

func (f *frozenFS) SyncDir(name string) error {
	f.call(name)
	return nil
}

// unsyncedFile skips syncs, for speed.
type unsyncedFile struct {
	*os.File
	fs *frozenFS
}

func (f unsyncedFile) Write(p []byte) (int, error) {
	f.fs.call(f.Name())
	return f.File.Write(p)
}

func (f unsyncedFile) Sync() error { return nil }

// onTmpfs puts temporary folders into memory, for speed.
func onTmpfs(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}

// TestFrozenSave suspends a writer before every call of a Save in turn while
// another process saves. It verifies that the other process's checkpoint is then the
// newest for readers and for TensorFlow, and loads.
func TestFrozenSave(t *testing.T) {
	onTmpfs(t)
	for _, second := range []int64{20, 15} { // the same step, or an older one, as after --resume
		for n, ended := 1, false; !ended; n++ {
			t.Run(fmt.Sprintf("second=%d/call=%d", second, n), func(t *testing.T) {
				dir := t.TempDir()
				for _, step := range []int64{5, 10} {
					if _, err := Save(&frozenFS{}, dir, state(step), 2); err != nil {
						t.Fatal(err)
					}
				}
				want := state(second)
				want.Run.Seed = 77 // the second one's
				var path string
				ended = true
				first := &frozenFS{step: stepPrefix + "000020", n: n, frozen: func() {
					ended = false
					saved, err := Save(&frozenFS{}, dir, want, 2)
					if err != nil {
						t.Fatal(err)
					}
					path = saved.Path
				}}
				_, err := Save(first, dir, state(20), 2)
				if ended {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				wantLoad(t, dir, want)
				wantLoad(t, path, want)
				text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
				if err != nil {
					t.Fatal(err)
				}
				name, _, _ := strings.Cut(strings.TrimPrefix(string(text), `model_checkpoint_path: "`), `/model.ckpt"`)
				wantLoad(t, filepath.Join(dir, name), want)
			})
		}
	}
}
