package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
)

// script is a source whose answers are written down: a number is of bytes before the connection breaks, "silent" sends
// nothing more, "all" the rest. The last one is repeated.
type script struct {
	text    string
	answers []string
	asked   []string
}

func (s *script) open(ctx context.Context, o *object, from, to int64) (io.ReadCloser, error) {
	at := min(len(s.asked), len(s.answers)-1)
	s.asked = append(s.asked, fmt.Sprintf("%d-%d", from, to))
	end := to
	if to < 0 {
		end = int64(len(s.text))
	}
	rest := s.text[from:end]
	if at < 0 {
		return io.NopCloser(strings.NewReader(rest)), nil
	}
	switch answer := s.answers[at]; answer {
	case "all":
		return io.NopCloser(strings.NewReader(rest)), nil
	case "silent":
		return io.NopCloser(silent{ctx}), nil
	case "changed":
		return nil, exitcode.With(exitcode.BadData, errChanged)
	default:
		n, err := strconv.Atoi(answer)
		if err != nil {
			return nil, errors.New(answer)
		}
		return io.NopCloser(io.MultiReader(strings.NewReader(rest[:min(n, len(rest))]), broken{})), nil
	}
}

// broken is a connection that is reset.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, syscall.ECONNRESET }

// silent is a connection without bytes, until its context ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// inMemory takes a copy. A full one has no room behind a byte.
type inMemory struct {
	text []byte
	room int64
}

func (m *inMemory) WriteAt(p []byte, at int64) (int, error) {
	if m.room > 0 && at+int64(len(p)) > m.room {
		return 0, &os.PathError{Op: "write", Path: "copy", Err: syscall.ENOSPC}
	}
	if end := int(at) + len(p); end > len(m.text) {
		m.text = append(m.text, make([]byte, end-len(m.text))...)
	}
	return copy(m.text[at:], p), nil
}

// TestTries verifies after which faults a copy goes on, from which byte, how long it waits, and the codes and words of its
// end.
func TestTries(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name, answers string // with bars between
		whole         bool   // the server sends no ranges
		unknown       bool   // nor the size
		asked         string
		code          int
		want          string
		waited        time.Duration
	}{
		{name: "no fault", answers: "all", asked: "0-1048576"},
		{name: "two faults", answers: "503 SlowDown|reset|all", asked: "0-1048576 0-1048576 0-1048576", waited: 1500 * time.Millisecond},
		{name: "from the byte reached", answers: "1000|all", asked: "0-1048576 1000-1048576", waited: 500 * time.Millisecond},
		{name: "a gain counts", answers: "100000|1|1|1|100000|1|1|1|all", asked: "0-1048576 100000-1048576 100001-1048576 100002-1048576 100003-1048576 200003-1048576 200004-1048576 200005-1048576 200006-1048576", waited: 15 * time.Second},
		{name: "five faults", answers: "503 SlowDown", asked: "0-1048576 0-1048576 0-1048576 0-1048576 0-1048576", code: exitcode.IO, want: "s3://b/k: tried 5 times, the last time: 503 SlowDown", waited: 7500 * time.Millisecond},
		{name: "silence", answers: "silent", asked: "0-1048576 0-1048576 0-1048576 0-1048576 0-1048576", code: exitcode.IO, want: "tried 5 times, the last time: nothing arrived for 30s", waited: 157500 * time.Millisecond},
		{name: "changed", answers: "500|changed", asked: "0-1048576 500-1048576", code: exitcode.BadData, want: "s3://b/k: it was replaced while it was copied", waited: 500 * time.Millisecond},
		{name: "short", answers: "all", unknown: true, asked: "0--1"},
		{name: "no ranges", answers: "200000|all", whole: true, asked: "0-1048576 0-1048576", waited: 500 * time.Millisecond},
		{name: "no ranges, no gain", answers: "200000", whole: true, unknown: true, asked: "0--1 0--1 0--1 0--1 0--1", code: exitcode.IO, want: "tried 5 times, the last time: connection reset by peer", waited: 7500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := &script{text: text, answers: strings.Split(tt.answers, "|")}
				o := &object{url: "s3://b/k", size: int64(len(text)), from: from, whole: tt.whole}
				if tt.unknown {
					o.size = -1
				}
				var to inMemory
				began := time.Now()
				n, err := New(Config{}).fetch(t.Context(), o, &to)
				if exitcode.Of(err) != tt.code || tt.want != "" && !strings.Contains(fmt.Sprint(err), tt.want) {
					t.Errorf("error %v (%d), want %d and %q", err, exitcode.Of(err), tt.code, tt.want)
				}
				if err == nil && (n != int64(len(text)) || !bytes.Equal(to.text, []byte(text))) {
					t.Errorf("%d bytes, want %d", n, len(text))
				}
				if got := strings.Join(from.asked, " "); got != tt.asked {
					t.Errorf("asked for %s, want %s", got, tt.asked)
				}
				if got := time.Since(began); got != tt.waited {
					t.Errorf("took %v, want %v", got, tt.waited)
				}
			})
		})
	}
}

// TestFullDisk verifies that a full disk ends a copy at once with 74, and that nothing half-written is left.
func TestFullDisk(t *testing.T) {
	from := &script{text: strings.Repeat("x", 1000)}
	o := &object{url: "s3://b/k", size: 1000, from: from}
	_, err := New(Config{}).fetch(t.Context(), o, &inMemory{room: 10})
	if exitcode.Of(err) != exitcode.IO || !strings.Contains(err.Error(), "no space left on device") || len(from.asked) != 1 {
		t.Errorf("error %v (%d) after %d tries", err, exitcode.Of(err), len(from.asked))
	}
	dir := t.TempDir()
	s := newStore(t, dir)
	from.answers, o.path = []string{"10"}, "s3/b/k"
	if err := s.write(t.Context(), o); exitcode.Of(err) != exitcode.IO {
		t.Errorf("error %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 || err != nil {
		t.Errorf("left %q, error %v", left, err)
	}
}

// TestStopped verifies that the end of a context ends a copy, and its waits, with the cause.
func TestStopped(t *testing.T) {
	why := errors.New("why")
	for _, answer := range []string{"silent", "503 SlowDown"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(100*time.Millisecond, func() { stop(why) })
			o := &object{url: "s3://b/k", size: 10, from: &script{text: "0123456789", answers: []string{answer}}}
			began := time.Now()
			if _, err := New(Config{}).fetch(ctx, o, &inMemory{}); !errors.Is(err, why) || time.Since(began) != 100*time.Millisecond {
				t.Errorf("%s: error %v after %v", answer, err, time.Since(began))
			}
		})
	}
}
