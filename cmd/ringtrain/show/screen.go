package show

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// A screen is a terminal, which standard output and standard error may share. All lines stand above the live block of a
// run, if there is one.
type screen struct {
	mu     sync.Mutex
	shape  func() Shape // of the terminal
	wraps  bool         // a person reads it: text is split at its width
	splits bool         // and so are the lines of ranks
	block  *block       // nil: there is no live block
}

// A screenFile writes to a screen by way of an open file. It is given whole lines.
type screenFile struct {
	out    io.Writer
	screen *screen
}

// OnTerminal returns writers for standard output and standard error, which go by way of a
// screen where the file is a terminal. byPerson says that a person reads it: mpirun gives its ranks
// pseudo-terminals, and writes a log, in which no line is split. end completes the live block.
func OnTerminal(stdout, stderr *os.File, byPerson bool) (out, err io.Writer, end func()) {
	s := &screen{wraps: byPerson}
	wrap := func(f *os.File) io.Writer {
		if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" { // which cannot clear a line
			return f
		}
		s.shape = func() Shape { return shapeOf(f) }
		return &screenFile{f, s}
	}
	return wrap(stdout), wrap(stderr), s.end
}

// Write writes lines above the live block.
func (f *screenFile) Write(p []byte) (int, error) {
	s := f.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(p)
	if s.splits {
		text = wrapText(text, s.shape().Columns)
	}
	if s.block != nil {
		text = s.above() + text
	}
	if _, err := io.WriteString(f.out, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end completes the live block: the shell writes its prompt below.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block != nil {
		s.leave()
		s.block.gone = true
	}
}

// IsTerminal reports whether what is written to w reaches a terminal.
func IsTerminal(w io.Writer) bool {
	f := fileOf(w)
	return screenOf(w) != nil || f != nil && term.IsTerminal(int(f.Fd()))
}

// Split has terminals among the writers get no line that is wider than they are.
func Split(writers ...io.Writer) {
	for _, w := range writers {
		if s := screenOf(w); s != nil {
			s.mu.Lock()
			s.splits = s.wraps
			s.mu.Unlock()
		}
	}
}

// screenOf returns the screen to which a writer leads, nil if there is none.
func screenOf(w io.Writer) *screen {
	if r, ok := w.(*Reporter); ok {
		w = r.out
	}
	if f, ok := w.(*screenFile); ok {
		return f.screen
	}
	return nil
}

// fileOf returns the open file to which a writer leads, nil if there is none.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *Reporter:
		return fileOf(w.out)
	case *screenFile:
		return fileOf(w.out)
	case *os.File:
		return w
	}
	return nil
}

// sameFile reports whether both writers lead to the same open file: a terminal, or 2>&1.
func sameFile(stdout, stderr io.Writer) bool {
	a, errA := fileOf(stdout).Stat() // of nil an error
	b, errB := fileOf(stderr).Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}
