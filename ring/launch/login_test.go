package launch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"ringtrain/ring/launch/process"
)

// logbook is a listener that keeps what it is told.
type logbook []string

func (l *logbook) handleFrame(f frame) error {
	*l = append(*l, fmt.Sprintf("%c %d", f.kind, f.rank))
	return nil
}

func (l *logbook) hostSilent() { *l = append(*l, "silent") }

func (l *logbook) hostLost(why string) { *l = append(*l, "lost: "+why) }

// testLogin is a login to host 3.
func testLogin() *login { return newLogin(target{3, "a", 1}, []string{"true"}, nil) }

// TestLoginEnds verifies that the end of a login is the loss of the host, with the reason.
func TestLoginEnds(t *testing.T) {
	const closed = "Connection to a closed."
	out := frame{kindOut, 3, nil}
	for _, tt := range []struct {
		name   string
		frames []frame
		text   string // that the host prints behind the frames
		want   []string
	}{
		{"end=ssh", []frame{out, {kindAlive, 0, nil}, out}, "", []string{"o 3", "o 3", "lost: " + closed}},
		{"end=a shell prints", []frame{out}, "\nYou have new mail\nin /var/mail\n", []string{"o 3", `lost: a printed "You have new mail" into the login: want no output behind the agent's start, of a start file of the shell or of --ssh`}},
		{"end=a word", []frame{out}, "hi\nA\x00\x03\x00\x00\x00\x00\x00\x00", []string{"o 3", `lost: a printed "hi" into the login: want no output behind the agent's start, of a start file of the shell or of --ssh`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, book := testLogin(), new(logbook)
			g.ssh = process.NewCommand([]string{"sh", "-c", "echo '" + closed + "' >&2; exit 255"}, g.stderr, testGuard(t))
			var wire bytes.Buffer
			for _, f := range tt.frames {
				(&frameWriter{w: &wire}).send(f)
			}
			wire.WriteString(tt.text)
			g.pipes(nil, &wire)
			if err := g.ssh.Start(nil); err != nil {
				t.Fatal(err)
			}
			g.receive(book)
			if !slices.Equal(*book, tt.want) {
				t.Errorf("told was %q, want %q", *book, tt.want)
			}
		})
	}
}

func testGuard(t *testing.T) *process.GuardProcess {
	t.Helper()
	g, err := process.StartGuard()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// TestTrimHost verifies that an error about a host names the host once, and the reason.
func TestTrimHost(t *testing.T) {
	for text, want := range map[string]string{
		unreachable("b", new(tailBuffer), errors.New("no answer in 1s")).Error(): "no answer in 1s",
		"host b: ringtrain there is another":                                     "ringtrain there is another",
		"ringtrain: not found on host b: give --push":                            "ringtrain: not found on host b: give --push",
	} {
		if got := trimHost("b", text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}
