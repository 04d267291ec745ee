package show

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"ringtrain/model/train/report"
)

// drawEvery is the time from an event to the draw that shows it, so the least time between two draws.
const drawEvery = 200 * time.Millisecond

// Size of a terminal that does not tell its own.
const (
	usualColumns = 80
	usualRows    = 24
)

// A live is the live block of a run at the end of a screen. Its lines are drawn over; all other lines of the screen
// stand above it. In the end its last state stays, and the result follows.
type live struct {
	out    io.Writer
	shape  func() Shape
	atHand func() bool // whether this process may draw: the shell has the terminal while a job is in the background

	asked atomic.Bool // a draw is due
	draws *time.Timer

	mu    sync.Mutex // guards the fields below; nothing is written under it
	run   runState
	over  bool // the run has ended
	final bool // and its last state is drawn

	writing *sync.Mutex // of the screen; guards the fields below
	rows    int         // of the block on the screen; 0: there is none
	columns int         // of the screen when it was drawn
	gone    bool        // the process ends
}

// Follow has the Reporter show a run, with a live block where it draws.
func (r *Reporter) Follow(next Next) {
	r.words.next = next
	f, onScreen := r.out.(*screenFile)
	if !onScreen || !r.Draws || r.Quiet || r.JSON {
		return
	}
	file := f.out.(*os.File)
	r.live = newLive(f, func() Shape { return shapeOf(file) }, func() bool { return inForeground(file) })
	r.Views = append(r.Views, r.live.event)
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

// newLive begins a live block at the end of a terminal.
func newLive(f *screenFile, shape func() Shape, atHand func() bool) *live {
	l := &live{out: f.out, shape: shape, atHand: atHand, writing: &f.screen.mu}
	l.draws = time.AfterFunc(time.Hour, l.draw)
	l.draws.Stop()
	f.screen.mu.Lock()
	defer f.screen.mu.Unlock()
	f.screen.live = l
	return l
}

// event is the View of the block. The terminal may take no output: event writes nothing, so that the run goes on.
func (l *live) event(s report.Stamped) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run.add(s.Event)
	switch s.Event.(type) {
	case report.Start:
		l.over, l.final = false, false
	case report.Done, report.Failure:
		l.over = true
	}
	l.touch()
}

// touch has the block drawn soon.
func (l *live) touch() {
	if l.asked.CompareAndSwap(false, true) {
		l.draws.Reset(drawEvery)
	}
}

// lines returns the lines of the block now. last asks for those of a run that has ended, which it returns once.
func (l *live) lines(shape Shape, last bool) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run.all.step.Steps == 0 || l.final || l.over != last {
		return nil
	}
	l.final = last
	return l.run.block(shape)
}

// draw draws the block. The lines of the result draw that of a run that has ended.
func (l *live) draw() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.asked.Store(false)
	shape := l.shape()
	if lines := l.lines(shape, false); lines != nil && !l.gone && l.atHand() {
		_, _ = io.WriteString(l.out, l.erase(shape)+strings.Join(lines, "\n")) // the next line tells of a terminal that is gone
		l.rows, l.columns = len(lines), shape.Columns
	}
}

// erase returns the text that clears the block. A terminal that has become narrower shows it on rows that nobody
// knows: there it stays.
func (l *live) erase(shape Shape) string {
	rows := l.rows
	l.rows = 0
	switch {
	case rows == 0:
		return ""
	case l.columns > shape.Columns:
		return "\n"
	case rows == 1:
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}

// above returns the text that comes before a line of the screen: it clears the block, which is drawn again soon. Of a
// run that has ended it draws the last state, which stays.
func (l *live) above() string {
	shape := l.shape()
	text := l.erase(shape)
	if last := l.lines(shape, true); last != nil {
		return text + strings.Join(last, "\n") + "\n"
	}
	l.touch()
	return text
}

// painted returns a line with the word of a warning or of a failure in a colour.
func (l *live) painted(line string) string {
	for word, colour := range map[string]string{"warning:": yellow, "failed ": red} {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return l.shape().paint(colour, word) + rest
		}
	}
	return line
}

// suspend leaves the terminal to the shell while stop stops this process. The next draw is below.
func (l *live) suspend(stop func()) {
	l.writing.Lock()
	l.leave()
	l.writing.Unlock()
	stop()
	l.touch()
}

// leave completes the last line of the block. The caller holds the lock of the screen.
func (l *live) leave() {
	if l.rows > 0 {
		l.rows = 0
		_, _ = io.WriteString(l.out, "\n") // the next line tells of a terminal that is gone
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
