package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestHold verifies that a held file has mode 0600 and its text, that others find it by its
// suffix as long as it is held, and that nothing is left of it.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	held, err := hold(dir, ".job", []byte("words"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := hold(dir, ".token", []byte("digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if info, err := os.Lstat(held.Path); err != nil || info.Mode() != 0o600 || filepath.Dir(held.Path) != dir {
		t.Errorf("%s is %v, error %v, want a file of mode 0600", held.Path, info, err)
	}
	all, errs := readHeld(dir, ".job")
	if len(all) != 1 || len(errs) > 0 || all[0].Path != held.Path || string(all[0].Text) != "words" {
		t.Errorf("read %q, errors %v", all, errs)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if all, errs := readHeld(dir, ""); len(all) != 1 || len(errs) > 0 || all[0].Path != other.Path {
		t.Errorf("after its end read %q, errors %v, want the other file", all, errs)
	}
}

// TestHoldSweeps verifies that the next process that holds a file removes the files of dead
// processes, of any suffix, and leaves all else. What is no file is named.
func TestHoldSweeps(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * unlockedTimeout)
	var gone []string
	for _, name := range []string{"1-aa.job", "2-bb.token", unlockedPrefix + "3-cc.job"} {
		gone = append(gone, filepath.Join(dir, name))
	}
	stay := []string{filepath.Join(dir, localName), filepath.Join(dir, unlockedPrefix+"4-dd.job"), filepath.Join(dir, "a-b.job")}
	for _, path := range append(gone, stay...) {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(gone[2], old, old); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(stay[0], filepath.Join(dir, "5-ee.job")), syscall.Mkfifo(filepath.Join(dir, "6-ff.job"), 0o600)); err != nil {
		t.Fatal(err)
	}
	held, err := hold(dir, ".token", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, path := range gone {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range stay {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone", path)
		}
	}
	_, errs := readHeld(dir, ".job")
	if text := fmt.Sprint(errs); len(errs) != 2 || !strings.Contains(text, "5-ee.job") || !strings.Contains(text, "6-ff.job is no regular file") {
		t.Errorf("errors are %v, want the link and the pipe", errs)
	}
}

// TestRenew verifies that the time of a file is renewed each hour, for /tmp is cleaned by age,
// and no more after the end.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		timeOf := func(path string) time.Time {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			return info.ModTime()
		}
		held, err := hold(dir, ".job", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := localIn(dir); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(renewInterval)
			synctest.Wait()
			for _, path := range []string{held.Path, filepath.Join(dir, localName)} {
				if got := timeOf(path); !got.Equal(time.Now()) {
					t.Errorf("%s has the time %v, want %v", path, got, time.Now())
				}
			}
		}
		path := held.Path
		held.Close()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		before := timeOf(path)
		time.Sleep(2 * renewInterval)
		if got := timeOf(path); !got.Equal(before) {
			t.Errorf("after its end %s has the time %v, want %v", path, got, before)
		}
	})
}

// TestLocal verifies that processes that start at the same time agree on the local token, that
// only its user can read the file, and that no draft is left.
func TestLocal(t *testing.T) {
	dir := t.TempDir()
	found := make([]Token, 32)
	var starting sync.WaitGroup
	for i := range found {
		starting.Go(func() {
			var err error
			if found[i], err = localIn(dir); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	if !found[0].Set() || slices.ContainsFunc(found, func(other Token) bool { return other != found[0] }) {
		t.Error("the processes do not agree on a token")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != localName {
		t.Fatalf("the folder has %v, error %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, error %v, want mode 0600", info, err)
	}
}
