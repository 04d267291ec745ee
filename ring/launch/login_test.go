package launch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

// logbook is a listener that keeps what it is told.
type logbook []string

func (b *logbook) handleFrame(f frame) error {
	*b = append(*b, fmt.Sprintf("%c %d", f.kind, f.host))
	return nil
}

func (b *logbook) hostsRefused(by int, hosts []int, why error) {
	*b = append(*b, fmt.Sprintf("%d refuses %v: %v", by, hosts, why))
}

func (b *logbook) hostsSilent(hosts []int) { *b = append(*b, fmt.Sprintf("silent %v", hosts)) }

func (b *logbook) hostsLost(hosts []int, why string) {
	*b = append(*b, fmt.Sprintf("lost %v: %s", hosts, why))
}

// testLogin is a login by which host 3 has said hello, and 5 and 8 are to.
func testLogin() *login {
	g := newLogin(branch{{3, "a", 1}, {5, "b", 1}, {8, "c", 1}}, []string{"true"}, nil)
	g.stages[3] = stageOpen
	return g
}

func said(kind byte, by int, why string, hosts ...int) frame {
	return frameOf(kind, by, 0, wireHosts{hosts, wireFault{exitcode.Retry, why}})
}

func helloOf(host int) frame { return frameOf(kindHello, host, 0, hello{}) }

// TestLoginDispatch verifies that an agent speaks only for hosts below it, and reports each
// of them ready or lost once.
func TestLoginDispatch(t *testing.T) {
	out := func(host int) frame { return frame{kindOut, host, 0, nil} }
	tests := []struct {
		name   string
		frames []frame
		last   string // behaviour of the last login; "": refused
	}{
		{"host=itself", []frame{out(3)}, "o 3"},
		{"host=foreign", []frame{out(4)}, ""},
		{"host=below, too early", []frame{out(5)}, ""},
		{"host=below", []frame{helloOf(5), out(5)}, "o 5"},
		{"hello=once", []frame{helloOf(5)}, "H 5"},
		{"hello=twice", []frame{helloOf(5), helloOf(5)}, ""},
		{"hello=its own again", []frame{helloOf(3)}, ""},
		{"hello=foreign", []frame{helloOf(4)}, ""},
		{"refused=pending", []frame{said(kindRefused, 3, "no", 5, 8)}, "3 refuses [5 8]: no"},
		{"refused=by one below", []frame{helloOf(5), said(kindRefused, 5, "no", 8)}, "5 refuses [8]: no"},
		{"refused=by a pending one", []frame{said(kindRefused, 5, "no", 8)}, ""},
		{"refused=open", []frame{helloOf(5), said(kindRefused, 3, "no", 5)}, ""},
		{"refused=twice", []frame{said(kindRefused, 3, "no", 5), said(kindRefused, 3, "no", 5)}, ""},
		{"refused=twice in one", []frame{said(kindRefused, 3, "no", 5, 5)}, ""},
		{"refused=foreign", []frame{said(kindRefused, 3, "no", 4)}, ""},
		{"refused=none", []frame{said(kindRefused, 3, "no")}, ""},
		{"refused=and then hello", []frame{said(kindRefused, 3, "no", 5), helloOf(5)}, ""},
		{"refused=nonsense", []frame{{kindRefused, 3, 0, []byte("x")}}, ""},
		{"alive", []frame{helloOf(5), {kindAlive, 3, 0, nil}}, "H 5"},
		{"silent=open", []frame{helloOf(5), helloOf(8), said(kindSilent, 3, "", 5, 8)}, "silent [5 8]"},
		{"silent=the first", []frame{helloOf(5), said(kindSilent, 3, "", 5, 8)}, "silent [5]"},
		{"silent=lost by now", []frame{helloOf(5), helloOf(8), said(kindLost, 3, "gone", 5), said(kindSilent, 3, "", 5, 8)}, "lost [5]: gone"},
		{"silent=none", []frame{helloOf(5), said(kindSilent, 3, "")}, "H 5"},
		{"silent=nonsense", []frame{{kindSilent, 3, 0, []byte("x")}}, ""},
		{"lost=open", []frame{helloOf(5), helloOf(8), said(kindLost, 3, "gone", 5, 8)}, "lost [5 8]: gone"},
		{"lost=pending", []frame{said(kindLost, 3, "gone", 5)}, ""},
		{"lost=the login's own host", []frame{helloOf(5), said(kindLost, 5, "gone", 3)}, ""},
		{"lost=and then output", []frame{helloOf(5), said(kindLost, 3, "gone", 5), out(5)}, ""},
		{"lost=nonsense", []frame{{kindLost, 3, 0, []byte("x")}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, book := testLogin(), new(logbook)
			for i, f := range tt.frames {
				err := g.dispatch(book, f)
				if last := i == len(tt.frames)-1; last && tt.last == "" {
					if exitcode.Of(err) != exitcode.Protocol {
						t.Errorf("frame %c: error %v, want code 76", f.kind, err)
					}
				} else if err != nil {
					t.Fatalf("frame %d, %c: %v", i, f.kind, err)
				}
			}
			if tt.last != "" && (*book)[len(*book)-1] != tt.last {
				t.Errorf("told was %q, want %q last", *book, tt.last)
			}
		})
	}
}

// TestLoginEnds verifies that the end of a login reports all of its hosts as lost or
// refused, the first one as the cause.
func TestLoginEnds(t *testing.T) {
	const closed, foreign = "Connection to a closed.", `agent sent a frame 'o' of host 4, which does not speak there`
	for _, tt := range []struct {
		name, why string
		frames    []frame
		text      string // that the host prints behind the frames
	}{
		{"end=ssh", closed, []frame{helloOf(8)}, ""},
		{"end=nonsense", foreign, []frame{helloOf(8), {kindOut, 4, 0, nil}, helloOf(5)}, ""},
		{"end=a shell prints", `a printed "You have new mail" into the login: want no output behind the agent's start, of a start file of the shell or of --ssh`, []frame{helloOf(8)}, "\nYou have new mail\nin /var/mail\n"},
		{"end=a word", `a printed "hi" into the login: want no output behind the agent's start, of a start file of the shell or of --ssh`, []frame{helloOf(8)}, "hi\nA\x00\x03\x00\x00\x00\x00\x00\x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, book := testLogin(), new(logbook)
			g.ssh = process.NewHelper([]string{"sh", "-c", "echo '" + closed + "' >&2; exit 255"}, g.stderr, testGuard(t))
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
			want := []string{"H 8", "3 refuses [5]: host a is lost: " + tt.why, "lost [3 8]: " + tt.why}
			if !slices.Equal(*book, want) {
				t.Errorf("told was %q, want %q", *book, want)
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
