package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring/launch"
)

// unread starts `ringtrain run` with args and a pipe as standard output.
func unread(t *testing.T, b *box, args ...string) (cmd *exec.Cmd, out *os.File, people *recorder) {
	t.Helper()
	return unreadAfter(t, b, 0, append([]string{"run"}, args...)...)
}

// unreadAfter starts ringtrain with args and a pipe of one page as standard output,
// which already has some bytes.
func unreadAfter(t *testing.T, b *box, before int, args ...string) (cmd *exec.Cmd, out *os.File, people *recorder) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, before)); before > 0 && err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	people = newRecorder()
	cmd = exec.CommandContext(ctx, self(b), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, b.env, w, people
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, r, people
}

// scribble writes more lines than a pipe holds, and then creates a file.
const scribble = `i=0; while [ $i -lt 4000 ]; do echo "a line of some length, so that the pipe is full soon: $i"; i=$((i+1)); done; : >"done.$RINGTRAIN_RANK"; exit $1`

// TestRunIntoHead verifies that `ringtrain run … | head -1` completes the job with its
// exit code, and reports the closed pipe.
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
			cmd.Wait() // the state has the result
			if got := cmd.ProcessState.String(); got != "exit status "+code {
				t.Errorf("run: %s, want that of the ranks, %s\n%s", got, code, people)
			}
			if !strings.Contains(people.String(), "nobody reads the standard output any more") {
				t.Errorf("people read %q", people)
			}
			if code == "0" { // only this file lets all ranks end
				b.read("done.0") // read fails the test if the file is missing
				b.read("done.1")
			}
		})
	}
}

// TestTrainIntoClosedPipe verifies that training completes and saves its state if the reader of its
// output has gone, as a launcher that was killed.
func TestTrainIntoClosedPipe(t *testing.T) {
	for _, format := range []string{"", "--json"} {
		b := newBox(t)
		args := append([]string{"train", "linear"}, strings.Fields(format+" --set log.every=1 --set train.steps=500 --set checkpoint.dir=ckpt --set export.savedmodel=")...)
		cmd, out, people := unreadAfter(t, b, 0, args...)
		out.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", format, err, people)
		}
		if saved, err := filepath.Glob(b.path("ckpt", "step-000500")); len(saved) != 1 {
			t.Errorf("%s: the last step is not saved, %v", format, err)
		}
	}
}

// TestRunIntoPager verifies that the launcher ends with its ranks' code if the reader of
// its open pipe no longer reads.
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

// TestRunStalled stops a job whose output has no reader, so that rank 0 blocks in a
// write. It verifies that the job ends and saves its state.
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

// byFakeSSH returns a box whose ssh runs the command line of a host here.
func byFakeSSH(t *testing.T) *box {
	if list, err := launch.Interfaces(""); err != nil || len(list) == 0 {
		t.Skipf("hosts by ssh want an interface besides loopback: %v", err)
	}
	b := newBox(t)
	b.write("ssh", `while test "$1" != --; do shift; done; exec sh -c "$3"`)
	return b.with("RINGTRAIN_SSH=sh " + b.path("ssh"))
}

// TestOneUnread lets rank 0 block on standard output without a reader. It verifies that
// the messages of other ranks on this host and, by ssh, on other branches appear.
// Messages of rank 0 by ssh follow its blocked output and may be lost.
func TestOneUnread(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*box{"here": newBox(t), "ssh": byFakeSSH(t)} {
		t.Run("ranks="+name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--json", "-np", "2"}
			if name == "ssh" {
				args = append(args, "-H", "a,b")
			}
			cmd, _, people := unreadAfter(t, b, os.Getpagesize(), append(args, "sh", "-c", fmt.Sprintf(rave, ravedLine, raved))...)
			before := -1
			eventually(t, patience, "rank 0 waits for who reads", func() bool {
				last := before
				before = b.written("writer")
				return before == last && before > 1<<20
			})
			if before >= raved*len(ravedLine+"\n") {
				t.Errorf("rank 0 has written all its %d bytes, want it to wait", before)
			}
			b.write("full", "")
			eventually(t, patience, "both ranks have spoken", func() bool {
				list, _ := filepath.Glob(b.path("spoken.*"))
				return len(list) == 2
			})
			people.await(t, "[1] this is rank 1\n")
			if name == "here" {
				people.await(t, "[0] this is rank 0\n")
			}
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
			if !strings.Contains(people.String(), "[0] this is rank 0\n") {
				t.Errorf("people never read rank 0:\n%s", people)
			}
			if got := cmd.ProcessState.String(); got != "exit status 143" {
				t.Errorf("run: %s, want 143\n%s", got, people)
			}
		})
	}
}

// rave makes rank 0 write raved times ravedLine, more than the launcher and all pipes
// hold. The writing process is in the file writer. When a file full exists, the ranks
// write to standard error.
const (
	ravedLine = "a line of some length, so that all that holds it is full soon"
	raved     = 40000
	rave      = `
if [ $RINGTRAIN_RANK = 0 ]; then
	yes "%s" | head -n %d &
	echo $! >writer.new; mv writer.new writer
fi
while ! test -e full; do sleep 0.1; done
echo "this is rank $RINGTRAIN_RANK" >&2
: >spoken.$RINGTRAIN_RANK
exec sleep 1000`
)

// written returns the number of bytes written by the process in a file, 0 before there
// is one.
func (b *box) written(file string) (n int) {
	pid, _ := os.ReadFile(b.path(file))
	text, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/io")
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	fmt.Sscan(rest, &n)
	return n
}

// TestDoctorUnread verifies that the doctor ends with the verdict's code if the reader
// of the verdict does not read or closes.
func TestDoctorUnread(t *testing.T) {
	t.Parallel()
	hosts := byFakeSSH(t)
	for _, tt := range []struct {
		name string
		b    *box
		args string
		code string
	}{
		{"here", newBox(t), "doctor -H localhost --json", "0"},
		{"here,fault", newBox(t), "doctor -H localhost --json linear --set checkpoint.dir=/dev/null/x", "73"},
		{"ssh", hosts, "doctor -H a,b --json", "0"},
		{"ssh,fault", hosts, "doctor -H a,b linear --set checkpoint.dir=/dev/null/x", "73"},
		{"alone", newBox(t), "doctor --json", "0"},
	} {
		for _, closed := range []bool{false, true} {
			if !closed && tt.name == "alone" {
				continue // no launcher: a process that writes to a pager blocks
			}
			t.Run(fmt.Sprintf("hosts=%s/closed=%v", tt.name, closed), func(t *testing.T) {
				t.Parallel()
				cmd, out, people := unreadAfter(t, tt.b, os.Getpagesize(), strings.Fields(tt.args)...)
				if closed {
					out.Close()
				}
				cmd.Wait()
				if got := cmd.ProcessState.String(); got != "exit status "+tt.code {
					t.Errorf("doctor: %s, want %s\n%s", got, tt.code, people)
				}
				want := "the last lines of the ranks are lost"
				if closed {
					want = "nobody reads the standard output any more"
				}
				if tt.name != "alone" && !strings.Contains(people.String(), want) {
					t.Errorf("people read %q, want %q", people, want)
				}
			})
		}
	}
}

// TestRunUnreadBySSH verifies that training on hosts completes with the ranks' result if
// the reader does not read or has closed.
func TestRunUnreadBySSH(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			t.Parallel()
			b := byFakeSSH(t)
			cmd, out, people := unreadAfter(t, b, os.Getpagesize(), "run", "-H", "a,b", "-np", "2", "--json", "linear", "--set", "train.steps=20", "--set", "export.if=always")
			if closed {
				out.Close()
			}
			cmd.Wait()
			if got := cmd.ProcessState.String(); got != "exit status 0" {
				t.Errorf("run: %s, want 0\n%s", got, people)
			}
			if files, err := os.ReadDir(b.path("ckpt/linear")); err != nil || len(files) == 0 {
				t.Errorf("no checkpoint: %v\n%s", err, people)
			}
		})
	}
}
