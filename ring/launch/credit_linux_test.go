package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// clogged is an output that nobody reads until it is opened.
type clogged struct {
	open chan struct{}
	*console
}

func (c clogged) Write(p []byte) (int, error) {
	<-c.open
	return c.console.Write(p)
}

// flood writes much more than all buffers hold to standard output, once the pipe go is
// open, and a line to standard error before it.
const flood = `echo before >&2; : <"$0/go"; i=0; while test $i -lt 40; do head -c 100000 /dev/zero | tr '\0' x; echo; i=$((i+1)); done; exit 0`

// TestRemoteUnread verifies that an unread output of one rank stalls only that output: the
// errors of its branch are read, the fault of a rank ends the job, and no byte that was
// held is lost.
func TestRemoteUnread(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{true, false} {
		t.Run(fmt.Sprintf("read=%v", read), func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), clogged{make(chan struct{}), newConsole()}
			code := 65
			if read {
				code = 0
			}
			j := startRemote(t, "a:1,b:1", func(c *Config) {
				c.NP, c.Program, c.Stdout, c.OutputDir = 1, []string{"sh", "-c", flood, dir}, out, filepath.Join(dir, "out")
				c.More = []App{{1, []string{"sh", "-c", `: <"$0/say"; echo said >&2; : <"$0/end"; exit $1`, dir, fmt.Sprint(code)}}}
			})
			for _, name := range []string{"go", "say", "end"} {
				if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			release := func(name string) {
				f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0) // O_RDWR does not wait for a reader
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
			}
			j.err.await(t, `\[0\] before`, 1)
			release("go")
			file, full := filepath.Join(dir, "out", "rank.0", "stdout"), int64(0)
			if !eventually(func() bool { // the rank has filled all buffers and waits
				info, err := os.Stat(file)
				before := full
				if err == nil {
					full = info.Size()
				}
				return full > queueLimit && full == before
			}, patience) {
				t.Fatalf("%d bytes have come", full)
			}
			if most := int64(queueLimit + 4*windowBytes); full > most+200_000 { // one line in progress and one incomplete line
				t.Errorf("%d bytes have come that nobody reads, want at most %d", full, most)
			}
			release("say")
			j.err.await(t, `\[1\] said`, 1)
			release("end")
			if read {
				close(out.open)
			}
			r := j.wait(t)
			if r.Code != code || j.fault != nil || r.Unread == read {
				t.Errorf("result %+v, error %v, want code %d", r, j.fault, code)
			}
			if info, err := os.Stat(file); read && (err != nil || info.Size() != 40*100_001) {
				t.Errorf("%d bytes are in the file, %v, want %d", info.Size(), err, 40*100_001)
			}
			if got := len(out.String()); read && got != 40*100_005 {
				t.Errorf("%d bytes are read, want %d", got, 40*100_005)
			}
			if !read {
				close(out.open)
			}
		})
	}
}
