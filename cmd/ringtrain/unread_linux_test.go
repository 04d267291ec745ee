package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unread starts `ringtrain run` with args, whose standard output is a pipe.
func unread(t *testing.T, b *box, args ...string) (cmd *exec.Cmd, out *os.File, people *recorder) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	people = newRecorder()
	cmd = exec.CommandContext(ctx, self(b), append([]string{"run"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, b.env, w, people
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, r, people
}

// scribble writes more than a pipe holds, in lines, and then leaves a file behind.
const scribble = `i=0; while [ $i -lt 4000 ]; do echo "a line of some length, so that the pipe is full soon: $i"; i=$((i+1)); done; : >"done.$RINGTRAIN_RANK"; exit $1`

// TestRunIntoHead fails if `ringtrain run … | head -1` ends the job, changes its exit
// code, or does not say that nobody reads.
func TestRunIntoHead(t *testing.T) {
	for _, tt := range []struct{ code, json string }{{"0", ""}, {"7", ""}, {"7", "--json"}} {
		t.Run("code="+tt.code+tt.json, func(t *testing.T) {
			b, code := newBox(t), tt.code
			args := []string{"-np", "2", "sh", "-c", scribble, "sh", code}
			if tt.json != "" {
				args = append([]string{tt.json}, args...)
			}
			cmd, out, people := unread(t, b, args...)
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "a line of some length") {
				t.Errorf("the first line is %q, %v", line, err)
			}
			out.Close()
			cmd.Wait() // the state says it better
			if got := cmd.ProcessState.String(); got != "exit status "+code {
				t.Errorf("run: %s, want that of the ranks, %s\n%s", got, code, people)
			}
			if !strings.Contains(people.String(), "nobody reads the standard output any more") {
				t.Errorf("people read %q", people)
			}
			if code == "0" { // it alone lets all ranks end
				b.read("done.0") // fails if it is not there
				b.read("done.1")
			}
		})
	}
}

// TestRunIntoPager has nobody read any more, with the pipe open. It fails if the
// launcher waits for ever after the ranks' end, or ends with another code than theirs.
func TestRunIntoPager(t *testing.T) {
	long(t)
	t.Parallel()
	var ends []func()
	for _, code := range []string{"0", "7"} {
		b := newBox(t)
		cmd, _, people := unread(t, b, "-np", "2", "--json", "sh", "-c", scribble, "sh", code)
		ends = append(ends, func() {
			cmd.Wait()
			if got := cmd.ProcessState.String(); got != "exit status "+code {
				t.Errorf("run: %s, want that of the ranks, %s\n%s", got, code, people)
			}
			if !strings.Contains(people.String(), "the last lines of the ranks are lost") {
				t.Errorf("people read %q", people)
			}
		})
	}
	for _, end := range ends {
		end()
	}
}

// TestRunStalled stops a job whose output nobody reads, so that rank 0 waits in a
// write. It fails if the job does not end, or saves no state.
func TestRunStalled(t *testing.T) {
	long(t)
	t.Parallel()
	b := newBox(t)
	cmd, _, people := unread(t, b, "-np", "2", "--json", "linear", "--set", "log.every=1", "--set", "train.steps="+strconv.Itoa(forever), "--set", "export.savedmodel=")
	pause(3 * time.Second) // for more lines than all buffers hold
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if got := cmd.ProcessState.String(); got != "exit status 143" {
		t.Errorf("run: %s, want 143\n%s", got, people)
	}
	if files, err := os.ReadDir(b.path("ckpt/linear")); err != nil || len(files) == 0 {
		t.Errorf("no checkpoint: %v\n%s", err, people)
	}
}
