package bundle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/export/bundle/faultfs"
	"ringtrain/ring/exitcode"
)

// TestWriteFails verifies that Write returns the error of each file-system call.
func TestWriteFails(t *testing.T) {
	tensors := []bundle.Tensor{bundle.Float32("a", []int{2}, []float32{1, 2}), bundle.String("s", "x")}
	calls := faultfs.New(faultfs.Once, 0, t.TempDir())
	if _, err := bundle.Write(calls, filepath.Join(t.TempDir(), "b"), tensors); err != nil {
		t.Fatal(err)
	}
	if calls.Calls() < 5 {
		t.Errorf("only %d calls of Write can fail", calls.Calls())
	}
	for n := 1; n <= calls.Calls(); n++ {
		fs := faultfs.New(faultfs.Once, n, t.TempDir())
		_, err := bundle.Write(fs, filepath.Join(t.TempDir(), "b"), tensors)
		if exitcode.Of(err) != exitcode.IO {
			t.Errorf("call %d: error is %v, exit code %d, want %d", n, err, exitcode.Of(err), exitcode.IO)
		}
	}
	if _, err := bundle.Write(bundle.OS, filepath.Join(t.TempDir(), "none", "b"), tensors); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("no folder: error is %v, exit code %d, want %d", err, exitcode.Of(err), exitcode.CannotCreate)
	}
}

// TestProbe verifies that Probe reports the failure of each file-system call except a
// removal, which is a warning, and leaves nothing behind where possible.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	calls := faultfs.New(faultfs.Once, 0, t.TempDir())
	if err := bundle.Probe(bundle.NewDisk(calls, nil), deep); err != nil {
		t.Fatal(err)
	}
	if calls.Calls() < 5 {
		t.Errorf("only %d calls of Probe can fail", calls.Calls())
	}
	for n := 1; n <= calls.Calls(); n++ {
		fs := faultfs.New(faultfs.Once, n, t.TempDir())
		warnings := 0
		err := bundle.Probe(bundle.NewDisk(fs, func(error) { warnings++ }), deep)
		if exitcode.Of(err) != exitcode.CannotCreate && (err != nil || warnings != 1) {
			t.Errorf("call %d: error is %v, exit code %d, %d warnings, want %d", n, err, exitcode.Of(err), warnings, exitcode.CannotCreate)
			continue
		}
		left, _ := os.ReadDir(dir)
		for _, e := range left { // the removal itself may be what failed
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	if err := bundle.Probe(bundle.NewDisk(bundle.OS, nil), deep); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("Probe left %v", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := bundle.Probe(bundle.NewDisk(bundle.OS, nil), bad); exitcode.Of(err) != exitcode.CannotCreate {
			t.Errorf("%s: error is %v, want exit code %d", bad, err, exitcode.CannotCreate)
		}
	}
}

// TestProbeSweeps verifies that a probe removes the remains of killed probes, and
// neither those of a running probe nor other files.
func TestProbeSweeps(t *testing.T) {
	dir, old := t.TempDir(), time.Now().Add(-2*time.Hour)
	for name, at := range map[string]time.Time{".probe.tmp-old-renamed": old, ".probe.tmp-young": time.Now(), ".probe": old, "mine.tmp-old": old} {
		folder := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(filepath.Join(folder, "file"), nil, 0o666), os.Chtimes(folder, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := bundle.Probe(bundle.NewDisk(bundle.OS, nil), dir); err != nil {
		t.Fatal(err)
	}
	var names []string
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{".probe", ".probe.tmp-young", "mine.tmp-old"}; !slices.Equal(names, want) {
		t.Errorf("after a probe %q are there, want %q", names, want)
	}
}

// TestFault verifies which errors mean a wrong location and which mean a broken disk.
func TestFault(t *testing.T) {
	for err, want := range map[error]int{
		syscall.EACCES: exitcode.CannotCreate,
		syscall.EROFS:  exitcode.CannotCreate,
		syscall.ENOENT: exitcode.CannotCreate,
		syscall.ENOSPC: exitcode.IO,
		syscall.EIO:    exitcode.IO,
		syscall.EDQUOT: exitcode.IO,
	} {
		if got := exitcode.Of(bundle.Fault(&os.PathError{Op: "write", Path: "p", Err: err})); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}
