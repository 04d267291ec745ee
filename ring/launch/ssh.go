package launch

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// sshOptions follow the options of the user, which therefore win: ssh uses the first of
// several. They make ssh notice a dead host, fail instead of asking (in the background it
// would stop for ever), and pass all bytes unchanged.
var sshOptions = []string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"}

// sshLine returns the command line that runs a line of the host's shell there.
func sshLine(words []string, host, line string) []string {
	argv := append([]string{}, words...)
	argv = append(argv, sshOptions...)
	return append(argv, "--", host, line)
}

// SplitWords splits a command line such as `ssh -F "my file"` into words, without a shell.
// Blanks separate words; quotes of both kinds and backslashes protect them. An open quote
// is exitcode.Usage, and so is a line without words.
func SplitWords(line string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		in    bool // inside a word
		quote rune
		bare  bool // after a backslash
	)
	for _, c := range line {
		switch {
		case bare:
			word.WriteRune(c)
			bare = false
		case c == '\\' && quote != '\'':
			in, bare = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			in, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(c)
		}
	}
	if in {
		words = append(words, word.String())
	}
	switch {
	case quote != 0 || bare:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("ssh command is %q, want its quotes closed", line))
	case len(words) == 0:
		return nil, exitcode.With(exitcode.Usage, errors.New("ssh command is empty, want a program, perhaps with options"))
	}
	return words, nil
}

// plainPath matches paths without a special meaning between double quotes in any shell.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._+@%:=, -]+$`)

// agentLine returns the line of a host's shell that becomes the agent: the program at the
// launcher's own path, else the one in PATH there. The line ends with 127 if there is
// neither. The user's shell may be any: only sh reads more than words in quotes.
func agentLine(self string) string {
	find := `p=ringtrain`
	if plainPath.MatchString(self) {
		find = `p="` + self + `"; test -x "$p" || p=ringtrain`
	}
	return shLine(find + `; command -v "$p" >/dev/null || ` + exitAbsent + `; exec "$p" agent`)
}

// exitAbsent ends a host's line if the program is not there. A script in the place of ssh may
// lose the exit code, and passes on the text.
const (
	absent     = "ringtrain is not there"
	exitAbsent = `{ echo "` + absent + `" >&2; exit 127; }`
)

// shLine has sh run script, which must not contain a single quote.
func shLine(script string) string { return "exec /bin/sh -c '" + script + "'" }

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4 << 10

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// last returns the last line that is not blank; "" if there is none.
func (t *tailBuffer) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return phrase.Foreign(strings.TrimSpace(lines[len(lines)-1]), maxTail)
}
