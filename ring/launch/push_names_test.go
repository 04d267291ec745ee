package launch

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPushNames pushes to one home twice at the same time, from shells with the same pid, as
// hosts that share the home may have. It verifies that no push uses the other's unfinished
// copy.
func TestPushNames(t *testing.T) {
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "program")
	text := bytes.Repeat([]byte("#!/bin/sh\nexit 0\n"), 1000)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := hashSelf(file)
	if err != nil {
		t.Fatal(err)
	}
	inside := func() string { // runs the line's script in this shell, so that $$ stays the same
		script, ok := strings.CutPrefix(p.copyLine(), "exec /bin/sh -c ")
		if !ok {
			t.Fatalf("the line is %q", p.copyLine())
		}
		return "eval " + script
	}
	// The slow copy begins before the quick one and ends after it.
	cmd := exec.Command("sh", "-c", `(`+inside()+`) <&3 & slow=$!; while ! test -s "$HOME"/.cache/ringtrain/bin/*/part.*; do sleep 0.01; done; `+
		`(`+inside()+`) <"$FILE" || echo "the quick one ends with $?"; echo done; wait $slow || echo "the slow one ends with $?"`)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var said bytes.Buffer
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "FILE=" + file}
	cmd.ExtraFiles, cmd.Stderr, cmd.WaitDelay = []*os.File{r}, &said, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	w.Write(text[:100])
	var printed bytes.Buffer
	for !strings.Contains(printed.String(), "done\n") {
		if _, err := io.CopyN(&printed, out, 1); err != nil {
			t.Fatalf("the quick one does not end: %v\n%s%s", err, &printed, &said)
		}
	}
	w.Write(text[100:])
	w.Close()
	io.Copy(&printed, out)
	cmd.Wait()
	if printed.String() != "done\n" || said.Len() != 0 {
		t.Errorf("the shell says %q and %q, want that both are done", &printed, &said)
	}
	dir := filepath.Join(home, ".cache/ringtrain/bin", p.hash)
	if got, err := os.ReadFile(filepath.Join(dir, "ringtrain")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the program there has %d bytes, error %v; want the %d that were pushed", len(got), err, len(text))
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder has %v, want the program alone", left)
	}
}
