package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestLostOutput verifies that a command ends with an error if its output is lost.
func TestLostOutput(t *testing.T) {
	var stderr bytes.Buffer
	if code := Main([]string{"jobs"}, full{}, &stderr); code != exitcode.IO {
		t.Errorf("code is %d, want %d", code, exitcode.IO)
	}
	if !strings.Contains(stderr.String(), "standard output: no space left on device") {
		t.Errorf("standard error is %q, want the reason", stderr.String())
	}
	if code := Main([]string{"jobs"}, io.Discard, &stderr); code != exitcode.OK {
		t.Errorf("code is %d with room, want 0", code)
	}
}
