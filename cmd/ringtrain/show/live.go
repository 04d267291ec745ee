package show

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// drawEvery is the time from an event to the draw that shows it, so the least time between two draws.
const drawEvery = 200 * time.Millisecond

// Size of a terminal that does not tell its own.
const (
	usualColumns = 80
	usualRows    = 24
)

// A block is the live block of a run at the end of a screen. The lock of the screen guards its fields. Its lines are drawn
// over; all other lines of the screen stand above it. In the end its last state stays, and the result follows.
type block struct {
	out    io.Writer
	run    *following
	atHand func() bool // whether this process may draw: the shell has the terminal while a job is in the background

	asked atomic.Bool // a draw is due
	draws *time.Timer

	rows    int  // on the screen; 0: it is not drawn
	columns int  // of the screen when it was drawn
	final   bool // it shows the last state of a run
	gone    bool // the process ends
}

// Follow has the Reporter show a run, with a live block where it draws.
func (r *Reporter) Follow(next Next) {
	r.next = next
	f, onScreen := r.out.(*screenFile)
	if onScreen && r.Draws && !r.Quiet && !r.JSON {
		file := f.out.(*os.File)
		f.screen.follow(f.out, &r.run, func() bool { return inForeground(file) })
		r.live = f.screen
	}
}

// IsLive reports whether a live block shows the run.
func (r *Reporter) IsLive() bool { return r.live != nil }

// Suspend calls stop, which stops this process until it is continued, while the shell has the terminal.
func (r *Reporter) Suspend(stop func()) {
	if r.live == nil {
		stop()
		return
	}
	r.live.suspend(stop)
}

// follow begins a live block at the end of a terminal.
func (s *screen) follow(out io.Writer, run *following, atHand func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block = &block{out: out, run: run, atHand: atHand, draws: time.AfterFunc(time.Hour, s.draw)}
	s.block.draws.Stop()
}

// touch has the block drawn soon. The terminal may take no output: touch writes nothing, so that the run goes on.
func (s *screen) touch() {
	if s.block.asked.CompareAndSwap(false, true) {
		s.block.draws.Reset(drawEvery)
	}
}

// lines returns the lines of the block now. last asks for those of a run that has ended, which it returns once.
func (b *block) lines(shape Shape, last bool) []string {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if b.run.all.step.Steps == 0 || b.run.over != last || last && b.final {
		return nil
	}
	b.final = last
	return b.run.block(shape)
}

// draw draws the block. The lines of the result draw that of a run that has ended.
func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block.asked.Store(false)
	shape := s.shape()
	if lines := s.block.lines(shape, false); lines != nil && !s.block.gone && s.block.atHand() {
		_, _ = io.WriteString(s.block.out, s.erase(shape)+strings.Join(lines, "\n")) // the next line tells of a terminal that is gone
		s.block.rows, s.block.columns = len(lines), shape.Columns
	}
}

// erase returns the text that clears the block. A terminal that has become narrower shows it on rows that nobody
// knows: there it stays.
func (s *screen) erase(shape Shape) string {
	rows := s.block.rows
	s.block.rows = 0
	switch {
	case rows == 0:
		return ""
	case s.block.columns > shape.Columns:
		return "\n"
	case rows == 1:
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}

// above returns the text that comes before a line of the screen: it clears the block, which is drawn again soon. Of a
// run that has ended it draws the last state, which stays.
func (s *screen) above() string {
	shape := s.shape()
	text := s.erase(shape)
	if last := s.block.lines(shape, true); last != nil {
		return text + strings.Join(last, "\n") + "\n"
	}
	s.touch()
	return text
}

// suspend leaves the terminal to the shell while stop stops this process. The next draw is below.
func (s *screen) suspend(stop func()) {
	s.mu.Lock()
	s.leave()
	s.mu.Unlock()
	stop()
	s.touch()
}

// leave completes the last line of the block. The caller holds the lock of the screen.
func (s *screen) leave() {
	if s.block.rows > 0 {
		s.block.rows = 0
		_, _ = io.WriteString(s.block.out, "\n") // the next line tells of a terminal that is gone
	}
}

// shapeOf returns the size of a terminal, and of what it is capable.
func shapeOf(f *os.File) Shape {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 1 {
		width, height = usualColumns, usualRows
	}
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return Shape{width, height, os.Getenv("NO_COLOR") == "", strings.Contains(strings.ReplaceAll(locale, "-", ""), "utf8")}
}

// inForeground reports whether this process may write to a terminal at any time.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
