package show

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// mergeTime is how long a line of a rank waits for equal lines of other ranks. A person does
// not notice it.
const mergeTime = 200 * time.Millisecond

// endTime is how long the cause with which a rank ends waits for the end of the run, which may tell the same.
const endTime = 5 * time.Second

// maxPending bounds the lines that wait, over all ranks, in bytes.
const maxPending = 64 << 10

// A screen is a terminal, which standard output and standard error may share.
//
// All lines stand above the live block of a run, if there is one.
// Equal lines of several ranks, as the launcher writes them, become one: "[0] no such file" and
// "[1] no such file" become "ranks 0–1: no such file". Causes that the end of a run tells are left out.
// Files, pipes and JSON get each line as it is, but the causes that several ranks of run end with,
// which become one line, too.
type screen struct {
	mu      sync.Mutex
	live    *live         // nil: there is no live block
	columns func() int    // of the terminal, at which text is split; nil: it is not
	splits  bool          // lines that are wider than the terminal are split
	all     bool          // lines are shown as they are
	causes  bool          // a file: only the lines of causes are joined, and there is no live block
	pending []*sharedLine // wait for equal lines of other ranks; in order of the first one
	bytes   int           // of pending
	show    *time.Timer   // shows pending
	late    bool          // after endTime: only causes are pending
	after   time.Duration // mergeTime, but in tests
}

// A sharedLine is a line that ranks have written to out.
type sharedLine struct {
	out   io.Writer
	ranks []int
	text  []byte // without the mark of the rank
	end   bool   // the cause with which the ranks end, while a live block shows the run
}

// A screenFile writes to a screen by way of an open file. It is given whole lines.
type screenFile struct {
	out    io.Writer
	screen *screen
}

// OnTerminal returns writers for standard output and standard error, which go by way of a
// screen where the file is a terminal. byPerson says that a person reads it: mpirun gives its ranks
// pseudo-terminals, and writes a log, in which no line is split. end shows the lines that still wait.
func OnTerminal(stdout, stderr *os.File, byPerson bool) (out, err io.Writer, end func()) {
	s := &screen{after: mergeTime}
	wrap := func(f *os.File) io.Writer {
		if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" { // which cannot clear a line
			return f
		}
		if byPerson {
			s.columns = func() int { return shapeOf(f).Columns }
		}
		return &screenFile{out: f, screen: s}
	}
	return wrap(stdout), wrap(stderr), s.end
}

// JoinCauses returns standard error in which the lines with which ranks end are joined, if it is a
// file. end shows those that still wait.
func JoinCauses(stderr io.Writer) (joined io.Writer, end func()) {
	if _, ok := stderr.(*screenFile); ok {
		return stderr, func() {}
	}
	s := &screen{causes: true, after: mergeTime}
	return &screenFile{stderr, s}, s.end
}

// Write shows p, or keeps the lines of ranks for mergeTime.
func (f *screenFile) Write(p []byte) (int, error) {
	s := f.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.causes && len(s.pending) == 0 && !bytes.Contains(p, causeMark) {
		return f.out.Write(p)
	}
	for line := range bytes.Lines(p) {
		rank, text, ok := cutRank(line)
		if s.all || s.causes && ok && !bytes.HasPrefix(text, causeMark) {
			if slices.ContainsFunc(s.pending, func(l *sharedLine) bool { return slices.Contains(l.ranks, rank) }) {
				if err := s.showPending(false); err != nil {
					return 0, err
				}
			}
			if err := s.print(f.out, line); err != nil {
				return 0, err
			}
			continue
		}
		if ok {
			s.hold(f.out, rank, text)
			continue
		}
		if err := s.showPending(false); err != nil {
			return 0, err
		}
		if err := s.print(f.out, line); err != nil {
			return 0, err
		}
	}
	if s.bytes > maxPending {
		return len(p), s.showPending(true)
	}
	return len(p), nil
}

// IsTerminal reports whether what is written to w reaches a terminal.
func IsTerminal(w io.Writer) bool {
	if r, ok := w.(*Reporter); ok {
		w = r.out
	}
	if s, ok := w.(*screenFile); ok {
		return !s.screen.causes
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// All has terminals among the writers get each line as it is.
func All(writers ...io.Writer) { onScreens(writers, func(s *screen) { s.all = true }) }

// Split has terminals among the writers get no line that is wider than they are.
func Split(writers ...io.Writer) {
	onScreens(writers, func(s *screen) { s.splits = s.columns != nil })
}

// onScreens changes the screens of writers.
func onScreens(writers []io.Writer, change func(*screen)) {
	for _, w := range writers {
		if s := screenOf(w); s != nil {
			s.mu.Lock()
			change(s)
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

// hold joins a line to an equal one of other ranks, or begins to wait for them.
func (s *screen) hold(out io.Writer, rank int, text []byte) {
	for _, l := range s.pending {
		if l.out == out && bytes.Equal(l.text, text) && !slices.Contains(l.ranks, rank) {
			l.ranks = append(l.ranks, rank)
			return
		}
	}
	s.pending = append(s.pending, &sharedLine{out, []int{rank}, bytes.Clone(text), s.live != nil && bytes.HasPrefix(text, causeMark)})
	s.bytes += len(text)
	if len(s.pending) > 1 && !s.late {
		return
	}
	s.late = false
	if s.show == nil {
		s.show = time.AfterFunc(s.after, s.flush)
	} else {
		s.show.Reset(s.after)
	}
}

// flush shows the lines that wait.
func (s *screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.showPending(s.late) // the next Write tells of a terminal that is gone
	if s.late = len(s.pending) > 0; s.late {
		s.show.Reset(endTime)
	}
}

// endRun shows the lines that wait, but the causes that are in told.
func (s *screen) endRun(told string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(l *sharedLine) bool {
		return l.end && strings.Contains(told, string(bytes.TrimSpace(l.text[len(causeMark):])))
	})
	_ = s.showPending(true) // the next Write tells of a terminal that is gone
}

// end shows the lines that wait, and completes the live block: the shell writes its prompt below.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.showPending(true) == nil && s.live != nil {
		s.live.leave()
		s.live.gone = true
	}
}

// showPending shows the lines that wait, and with ends the causes with which ranks end.
func (s *screen) showPending(ends bool) error {
	lines := s.pending
	s.pending, s.bytes = nil, 0
	for _, l := range lines {
		if l.end && !ends {
			s.pending, s.bytes = append(s.pending, l), s.bytes+len(l.text)
			continue
		}
		mark := fmt.Sprintf("[%d] ", l.ranks[0])
		if len(l.ranks) > 1 {
			mark = "ranks " + spans(l.ranks) + ": "
		}
		if err := s.print(l.out, append([]byte(mark), l.text...)); err != nil {
			return err
		}
	}
	return nil
}

var causeMark = []byte("ringtrain: ") // of Reporter.Fail

// print writes one line, above the live block.
func (s *screen) print(out io.Writer, line []byte) error {
	text := string(line)
	if s.splits {
		text = strings.Join(Wrap(strings.TrimSuffix(text, "\n"), s.columns()), "\n") + "\n"
	}
	if s.live != nil {
		text = s.live.above() + s.live.painted(text)
	}
	_, err := io.WriteString(out, text)
	return err
}

// cutRank takes a line that begins as in "[3] " apart.
func cutRank(line []byte) (rank int, text []byte, ok bool) {
	mark, text, ok := bytes.Cut(line, []byte("] "))
	if !ok || len(mark) < 2 || mark[0] != '[' {
		return 0, nil, false
	}
	rank, err := strconv.Atoi(string(mark[1:]))
	return rank, text, err == nil && rank >= 0
}

// spans returns ranks in ascending order, as in "0–3, 5".
func spans(ranks []int) string {
	ranks = slices.Sorted(slices.Values(ranks))
	var parts []string
	for i := 0; i < len(ranks); {
		last := i
		for last+1 < len(ranks) && ranks[last+1] == ranks[last]+1 {
			last++
		}
		part := strconv.Itoa(ranks[i])
		if last > i {
			part += "–" + strconv.Itoa(ranks[last])
		}
		parts, i = append(parts, part), last+1
	}
	return strings.Join(parts, ", ")
}

// sameFile reports whether both writers lead to the same open file: a terminal, or 2>&1.
func sameFile(stdout, stderr io.Writer) bool {
	a, errA := infoOf(stdout)
	b, errB := infoOf(stderr)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func infoOf(w io.Writer) (os.FileInfo, error) {
	if s, ok := w.(*screenFile); ok {
		w = s.out
	}
	if f, ok := w.(*os.File); ok {
		return f.Stat()
	}
	return nil, os.ErrInvalid
}
