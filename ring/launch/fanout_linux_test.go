package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// A dialled is one line that a fakeSSH has written.
type dialled struct {
	way  string // "launcher h0"
	pid  int
	line string
}

// dials returns what the job's fakeSSH was called for.
func (j *job) dials(t *testing.T) (list []dialled) {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(j.SSH[0]), "logins")) // without logins there is no file
	for _, m := range regexp.MustCompile(`(?m)^(\S+) (\d+) (.* -- (\S+) .*)$`).FindAllStringSubmatch(string(text), -1) {
		pid, _ := strconv.Atoi(m[2])
		list = append(list, dialled{m[1] + " " + m[4], pid, m[3]})
	}
	return list
}

// ways are who logged in to whom, sorted.
func (j *job) ways(t *testing.T) (list []string) {
	t.Helper()
	for _, d := range j.dials(t) {
		list = append(list, d.way)
	}
	slices.Sort(list)
	return list
}

// TestFanout verifies that the launcher logs in to each host itself, once, however many logins it may
// have at a time.
func TestFanout(t *testing.T) {
	t.Parallel()
	for _, fanout := range []int{0, 1, 2, 9} {
		j := startRemote(t, "a:1,b:1,c:1", func(c *Config) { c.Fanout = fanout }, "exit", "0,0,0")
		if r := j.wait(t); r.Code != 0 || j.fault != nil {
			t.Errorf("fanout=%d: result %+v, error %v", fanout, r, j.fault)
		}
		if got, want := j.ways(t), []string{"launcher a", "launcher b", "launcher c"}; !slices.Equal(got, want) {
			t.Errorf("fanout=%d: logins are %q, want %q", fanout, got, want)
		}
	}
}

// TestFanoutNotTried verifies that a host whose turn never comes is told apart from the host that does
// not answer.
func TestFanoutNotTried(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "silent1:1,silent2:1", func(c *Config) { c.Fanout, c.StartTimeout = 1, time.Second }, "wait")
	j.wait(t)
	lines := strings.Split(fmt.Sprint(j.fault), "\n")
	if len(lines) != 2 || exitcode.Of(j.fault) != exitcode.Retry || !strings.HasSuffix(lines[0], " was not tried, with 1 logins at a time: no answer in 1s") || !strings.HasSuffix(lines[1], " cannot be reached: no answer in 1s") {
		t.Errorf("error %v with code %d, want one host without an answer and one not tried", j.fault, exitcode.Of(j.fault))
	}
	if got := j.ways(t); len(got) != 1 {
		t.Errorf("logins are %q, want one", got)
	}
}

// TestLostWhileOpening verifies that a host that is lost during the start ends the start at once, and is
// the one named.
func TestLostWhileOpening(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "frail:1,slow:1", nil, "wait") // the slow host has five minutes
	j.wait(t)
	if want := "host frail is lost: its agent has ended"; exitcode.Of(j.fault) != exitcode.Retry || j.fault.Error() != want {
		t.Errorf("error %v with code %d, want %q with code 138", j.fault, exitcode.Of(j.fault), want)
	}
	for _, d := range j.dials(t) {
		awaitEnd(t, d.pid)
	}
}
