package launch

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// runLine runs a host's line in sh, in a home of its own.
func runLine(t *testing.T, line, home, path string, input []byte) (code int, said string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Env, cmd.Stdin = []string{"HOME=" + home, "PATH=" + path}, bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestPushLines verifies that the shell lines of a push store and run exactly the program
// that was sent, or fail.
func TestPushLines(t *testing.T) {
	home := t.TempDir()
	file, text := filepath.Join(t.TempDir(), "program"), []byte("#!/bin/sh\necho $1 runs\n")
	os.WriteFile(file, text, 0o644)
	p, err := hashSelf(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, ".cache/ringtrain/bin", p.hash)
	path := os.Getenv("PATH")
	if code, _ := runLine(t, p.agentLine(), home, path, nil); code != exitcode.NotFound {
		t.Errorf("exit code %d before the push, want 127", code)
	}
	if code, said := runLine(t, p.copyLine(), home, path, text[:9]); code != exitcode.IO || !strings.Contains(said, "want "+p.hash) {
		t.Errorf("half a copy: exit code %d, %q; want 74 and the hash", code, said)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("half a copy leaves %v", left)
	}
	for range 2 {
		if code, said := runLine(t, p.copyLine(), home, path, text); code != 0 || said != "" {
			t.Errorf("copy: exit code %d, %q", code, said)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "ringtrain"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, error %v, want 0755", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder has %v, want the program alone", left)
	}
	if code, said := runLine(t, p.agentLine(), home, path, nil); code != 0 || said != "agent runs\n" {
		t.Errorf("run: exit code %d, %q", code, said)
	}
}

// TestPushOtherArchitecture verifies that a push to another architecture names both
// architectures.
func TestPushOtherArchitecture(t *testing.T) {
	bin := t.TempDir()
	os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\necho Linux m68k\n"), 0o755)
	p := pushedProgram{hash: "0"}
	code, said := runLine(t, p.copyLine(), t.TempDir(), bin+":"+os.Getenv("PATH"), nil)
	if want := "the host is Linux m68k, this program is for " + unixName(runtime.GOOS, runtime.GOARCH) + "\n"; code != exitcode.NotRunnable || said != want {
		t.Errorf("exit code %d, %q; want 126, %q", code, said, want)
	}
}

// TestUnixName verifies that unixName is the output of uname -sm on this machine.
func TestUnixName(t *testing.T) {
	out, err := exec.Command("uname", "-sm").Output()
	if got := unixName(runtime.GOOS, runtime.GOARCH); err != nil || got != strings.TrimSpace(string(out)) {
		t.Errorf("name is %q, uname says %q (%v)", got, out, err)
	}
	if got := unixName("darwin", "arm64"); got != "Darwin arm64" {
		t.Errorf("name is %q", got)
	}
}

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
