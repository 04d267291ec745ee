package cache

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestLinksOfOthers verifies that links and a FIFO which somebody else puts into a shared folder of
// caches, under the names that a job will use, have nothing written elsewhere and nobody wait: a lock that
// is a link is an error, and a cache replaces what is in its place.
func TestLinksOfOthers(t *testing.T) {
	precious := filepath.Join(t.TempDir(), "precious")
	os.WriteFile(precious, []byte("mine"), 0o600)
	c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
	once := func() error {
		s, err := Once(t.Context(), c, func(string) {}, func() error { return Make(t.Context(), c, draw(0, 1), 1) })
		if s != nil {
			s.Close()
		}
		return err
	}
	lock := c.Name() + ".lock"
	for _, to := range []string{precious, precious + ".new"} {
		os.Symlink(to, lock)
		if err := once(); exitcode.Of(err) != exitcode.CannotCreate || !strings.HasSuffix(err.Error(), lock+" is a link, want a file") {
			t.Errorf("a lock that is a link: error %v with code %d, want 73", err, exitcode.Of(err))
		}
		os.Remove(lock)
	}
	for name, plant := range map[string]func(string) error{
		"link": func(at string) error { return os.Symlink(precious, at) },
		"FIFO": func(at string) error { return syscall.Mkfifo(at, 0o666) },
	} {
		os.Remove(c.Name())
		if err := plant(c.Name()); err != nil {
			t.Fatal(err)
		}
		if err := once(); err != nil {
			t.Errorf("a cache that is a %s: %v", name, err)
		}
		if info, err := os.Lstat(c.Name()); err != nil || !info.Mode().IsRegular() {
			t.Errorf("a %s is not replaced by the cache: %v", name, err)
		}
	}
	if text, err := os.ReadFile(precious); string(text) != "mine" || exists(precious+".new") {
		t.Errorf("the file behind the links has %q, %v", text, err)
	}
}
