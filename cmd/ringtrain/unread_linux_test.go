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

// unread starts `ringtrain run` with args, whose standard output is a pipe.
func unread(t *testing.T, b *box, args ...string) (cmd *exec.Cmd, out *os.File, people *recorder) {
	t.Helper()
	return unreadAfter(t, b, 0, append([]string{"run"}, args...)...)
}

// unreadAfter starts ringtrain with args, whose standard output is a pipe that has
// room for a page, before which there are so many bytes.
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

// byFakeSSH returns a box whose ssh runs the line for a host here.
func byFakeSSH(t *testing.T) *box {
	if list, err := launch.Interfaces(""); err != nil || len(list) == 0 {
		t.Skipf("hosts by ssh want an interface besides loopback: %v", err)
	}
	b := newBox(t)
	b.write("ssh", `while test "$1" != --; do shift; done; exec sh -c "$3"`)
	return b.with("RINGTRAIN_SSH=sh " + b.path("ssh"))
}

// TestOneUnread has rank 0 wait for who reads the standard output, and does not. It fails
// if people then do not read what ranks here say, or, by ssh, what those of other branches
// do. What rank 0 says by ssh comes behind what waits: it is lost if it never comes.
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

// rave has rank 0 write raved times ravedLine, more than the launcher and all pipes
// hold. The process that does is in the file writer. When there is a file full the ranks say something to people.
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

// written is how many bytes the process in a file has written; 0 before there is one.
func (b *box) written(file string) (n int) {
	pid, _ := os.ReadFile(b.path(file))
	text, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/io")
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	fmt.Sscan(rest, &n)
	return n
}

// TestDoctorUnread has nobody read the verdict, or its reader close. It fails if the
// doctor waits for ever, or ends in another way than with the verdict's code.
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
				continue // no launcher: a process that writes to a pager waits for it
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

// TestRunUnreadBySSH trains on hosts while nobody reads, or the reader has closed. It
// fails if the job does not go on to its end, or its end is not that of the ranks.
func TestRunUnreadBySSH(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			t.Parallel()
			b := byFakeSSH(t)
			cmd, out, people := unreadAfter(t, b, os.Getpagesize(), "run", "-H", "a,b", "-np", "2", "--json", "linear", "--set", "train.steps=20")
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
