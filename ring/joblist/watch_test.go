package joblist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// script has the answers of a rendezvous in order: "dial …" is the result of a
// connection, others are results of a request.
type script struct {
	left   []string
	opened int
	closed int
}

func (s *script) take() string {
	word := s.left[0]
	s.left = s.left[1:]
	return word
}

func (s *script) look(context.Context) (Source, error) {
	if word := s.take(); word != "dial" {
		return nil, scripted(word)
	}
	s.opened++
	return s, nil
}

func (s *script) Next(context.Context) ([]rendezvous.Status, error) {
	switch word := s.take(); word {
	case "runs":
		return []rendezvous.Status{{Phase: "running"}}, nil
	case "ended":
		return []rendezvous.Status{{Phase: "ended"}}, nil
	default:
		return nil, scripted(word)
	}
}

func (s *script) Close() { s.closed++ }

func scripted(word string) error {
	switch word {
	case "late":
		return exitcode.With(exitcode.Retry, fmt.Errorf("at x: %w", rendezvous.ErrLate))
	case "gone":
		return exitcode.With(exitcode.Retry, fmt.Errorf("at x: %w", rendezvous.ErrGone))
	case "token":
		return exitcode.With(exitcode.Auth, errors.New("not the token"))
	}
	return exitcode.With(exitcode.Retry, errors.New(word))
}

// TestWatch verifies that a watch survives an outage of the rendezvous with one report,
// and notices its end.
func TestWatch(t *testing.T) {
	const late, ended = "at x: connected, no answer in time; trying again", "the rendezvous has ended"
	tests := []struct {
		name    string
		script  []string
		shown   int
		notices []string
		code    int
	}{
		{"end=of the job", []string{"dial", "runs", "runs", "ended"}, 3, nil, 0},
		{"end=of the rendezvous", []string{"dial", "runs", "lost", "gone"}, 1, []string{ended}, 0},
		{"late=once", []string{"dial", "runs", "late", "dial", "runs", "ended"}, 3, []string{late}, 0},
		{"late=often", []string{"dial", "runs", "late", "late", "dial", "late", "late", "dial", "ended"}, 2, []string{late}, 0},
		{"late=then gone", []string{"dial", "runs", "late", "late", "gone"}, 1, []string{late, ended}, 0},
		{"late=twice apart", []string{"dial", "runs", "late", "dial", "runs", "late", "dial", "ended"}, 3, []string{late, late}, 0},
		{"lost=comes back", []string{"dial", "runs", "lost", "dial", "ended"}, 2, nil, 0},
		{"lost=cut off", []string{"dial", "runs", "lost", "connect timeout", "dial", "ended"}, 2, []string{"connect timeout; trying again"}, 0},
		{"lost=for good", append([]string{"dial", "runs", "lost"}, slices.Repeat([]string{"no route to host"}, 301)...), 1, []string{"no route to host; trying again"}, exitcode.Retry},
		{"lost=another's port", append([]string{"dial", "runs", "lost"}, slices.Repeat([]string{"token"}, 301)...), 1, []string{"not the token; trying again"}, exitcode.Auth},
		{"first=another's port", []string{"token"}, 0, nil, exitcode.Auth},
		{"first=gone", []string{"gone"}, 0, nil, exitcode.Retry},
		{"first=late", []string{"dial", "late"}, 0, nil, exitcode.Retry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{left: tt.script}
				shown := 0
				var notices []string
				w := &Watcher{
					Look: s.look, Notice: func(text string) { notices = append(notices, text) },
					Show: func([]rendezvous.Status) error { shown++; return nil },
				}
				if err := w.Run(t.Context()); exitcode.Of(err) != tt.code {
					t.Errorf("ended with %v, want code %d", err, tt.code)
				}
				if shown != tt.shown || !slices.Equal(notices, tt.notices) || len(s.left) > 0 || s.opened != s.closed {
					t.Errorf("shown %d times, notices %q, %q unused, %d of %d closed; want %d times and %q", shown, notices, s.left, s.closed, s.opened, tt.shown, tt.notices)
				}
			})
		})
	}
}

// TestWatchStranger lets a server with another token use the port of a watched
// rendezvous for a while. It verifies that status --watch waits for the rendezvous and
// shows its job again.
func TestWatchStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{left: []string{"dial", "runs", "lost", "token", "token", "dial", "runs", "ended"}}
		shown := 0
		w := &Watcher{Look: s.look, Notice: func(string) {}, Show: func([]rendezvous.Status) error { shown++; return nil }}
		if err := w.Run(t.Context()); err != nil || shown != 3 {
			t.Errorf("ended with %v after %d looks, want the end of the job after 3", err, shown)
		}
	})
}
