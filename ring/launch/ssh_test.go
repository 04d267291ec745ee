package launch

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestSplitWords verifies how a command line is split into words.
func TestSplitWords(t *testing.T) {
	tests := []struct {
		line string
		want []string // nil: refused
	}{
		{"ssh", []string{"ssh"}},
		{"  ssh  -F\tfile ", []string{"ssh", "-F", "file"}},
		{`ssh -F "my file" -o 'A "b"'`, []string{"ssh", "-F", "my file", "-o", `A "b"`}},
		{`ssh my\ file \"x "a\"b" 'a\b'`, []string{"ssh", "my file", `"x`, `a"b`, `a\b`}},
		{`ssh "" ''`, []string{"ssh", "", ""}},
		{`a"b c"d`, []string{"ab cd"}},
		{"ssh $HOME `id` ;x", []string{"ssh", "$HOME", "`id`", ";x"}}, // no shell interprets these characters
		{"", nil},
		{"  ", nil},
		{`ssh "x`, nil},
		{`ssh x\`, nil},
	}
	for _, tt := range tests {
		got, err := SplitWords(tt.line)
		if tt.want == nil {
			if exitcode.Of(err) != exitcode.Usage {
				t.Errorf("line=%q: words %q, error %v, want code 64", tt.line, got, err)
			}
		} else if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("line=%q: words %q, error %v, want %q", tt.line, got, err, tt.want)
		}
	}
}

// TestSSHLine verifies that options of the user come first, and that the name of a host
// cannot be an option.
func TestSSHLine(t *testing.T) {
	got := sshLine([]string{"ssh", "-o", "ConnectTimeout=1"}, "b", "line")
	if n := len(got); got[0] != "ssh" || !slices.Equal(got[n-3:], []string{"--", "b", "line"}) {
		t.Errorf("command line is %q, want it to end with -- b line", got)
	}
	if slices.Index(got, "ConnectTimeout=1") > slices.Index(got, "ConnectTimeout=15") {
		t.Errorf("command line is %q, want the user's option first: ssh takes that", got)
	}
}

// TestSSHSilence verifies that the options have ssh notice a silent network after 15 to 20
// s, as the manual says.
func TestSSHSilence(t *testing.T) {
	words := map[string]int{}
	for _, w := range sshLine([]string{"ssh"}, "b", "line") {
		if name, value, ok := strings.Cut(w, "="); ok {
			words[name], _ = strconv.Atoi(value)
		}
	}
	every, count := words["ServerAliveInterval"], words["ServerAliveCountMax"]
	if every*count != 15 || every*(count+1) != 20 { // the host's last message may be one interval old
		t.Errorf("ssh asks every %d s and gives up after %d questions, want 15 to 20 s in all", every, count)
	}
}

// TestAgentLine verifies that a host's shell sees the path of the program as one word, or
// does not see it.
func TestAgentLine(t *testing.T) {
	for _, path := range []string{"/opt/ring train/x,y:z@1%+=/ringtrain", "/none/ringtrain"} {
		line := agentLine(path)
		if strings.Count(line, "'") != 2 || !strings.Contains(line, path) {
			t.Errorf("path=%s: line is %s", path, line)
		}
	}
	for _, path := range []string{"/a'b", `/a"b`, "/a$b", "/a`b", "/a\\b", "/a\nb", "/a!b"} {
		if line := agentLine(path); strings.Contains(line, "/a") {
			t.Errorf("path=%q: line is %s, want the program of PATH", path, line)
		}
	}
	// A host without ringtrain, in PATH or at the path.
	err := exec.Command("env", "-i", "PATH=/bin:/usr/bin", "sh", "-c", agentLine("/none/ringtrain")).Run()
	if ee, ok := err.(*exec.ExitError); !ok || ee.ExitCode() != exitcode.NotFound {
		t.Errorf("a host without ringtrain: %v, want exit code 127", err)
	}
}

// TestTailBuffer verifies that the last line of ssh's errors is kept.
func TestTailBuffer(t *testing.T) {
	s := new(tailBuffer)
	for i := range 1000 {
		fmt.Fprintf(s, "line %d of many\n", i)
	}
	fmt.Fprint(s, "\r\nthe last\r\n\n")
	if len(s.text) > maxTail || s.last() != "the last" {
		t.Errorf("%d bytes are kept, last line %q", len(s.text), s.last())
	}
	if got := new(tailBuffer).last(); got != "" {
		t.Errorf("last line of nothing is %q", got)
	}
}
