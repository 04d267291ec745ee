package input_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ringtrain/input"
)

// TestCreatePipe verifies that a pipe, as a device, is written as it stands, also through a link, and is
// not replaced by a file.
func TestCreatePipe(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link} {
		got := make(chan string, 1)
		go func() {
			text, err := os.ReadFile(pipe)
			got <- string(text)
			if err != nil {
				t.Error(err)
			}
		}()
		o, err := input.Create(name, true)
		if err != nil {
			t.Fatal(err)
		}
		o.Write([]byte("some text"))
		if err := o.Commit(); err != nil {
			t.Error(err)
		}
		if text := <-got; text != "some text" {
			t.Errorf("%s: the reader has %q, want the text", name, text)
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("%s is no pipe any more: %v, %v", pipe, info, err)
	}
}
