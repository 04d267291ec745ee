package main

import (
	"bytes"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// liveLines shows progress in place: on a terminal a line that reports a step
// is replaced by the next line. It is given whole lines, of one rank or, behind
// "[0] ", of a launcher's rank 0.
type liveLines struct {
	out    io.Writer
	screen *screen
}

// screen is what the writers to one terminal know of it.
type screen struct {
	mu   sync.Mutex
	live bool // a line stands that the next one replaces
}

// onTerminal makes progress live on those of the files that are a terminal.
func onTerminal(stdout, stderr *os.File) (io.Writer, io.Writer) {
	s := &screen{}
	wrap := func(f *os.File) io.Writer {
		if term.IsTerminal(int(f.Fd())) {
			return &liveLines{out: f, screen: s}
		}
		return f
	}
	return wrap(stdout), wrap(stderr)
}

var (
	clearLine = []byte("\r\x1b[K")
	stepMark  = []byte("step ")
	rankMark  = []byte("[0] ")
)

func (l *liveLines) Write(p []byte) (int, error) {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	var text []byte
	for line := range bytes.Lines(p) {
		if l.screen.live {
			text = append(text, clearLine...)
		}
		if l.screen.live = bytes.HasPrefix(bytes.TrimPrefix(line, rankMark), stepMark); l.screen.live {
			line = bytes.TrimSuffix(line, []byte("\n"))
		}
		text = append(text, line...)
	}
	if _, err := l.out.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// oneFile tells whether both lead to the same open file: a terminal, or 2>&1.
func oneFile(stdout, stderr io.Writer) bool {
	a, errA := infoOf(stdout)
	b, errB := infoOf(stderr)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func infoOf(w io.Writer) (os.FileInfo, error) {
	if l, ok := w.(*liveLines); ok {
		w = l.out
	}
	if f, ok := w.(*os.File); ok {
		return f.Stat()
	}
	return nil, os.ErrInvalid
}
