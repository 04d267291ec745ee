package show

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/model/train/report"
)

// A fakeTerminal has a live block of mnist, of which the first step is done.
type fakeTerminal struct {
	mu     sync.Mutex
	shown  bytes.Buffer
	writes int
	shape  Shape
	away   bool // the process is in the background
	file   *screenFile
	run    following
}

func (f *fakeTerminal) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	return f.shown.Write(p)
}

// taken returns what was written since the last call.
func (f *fakeTerminal) taken() string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.shown.String()
	f.shown.Reset()
	return text
}

// size returns the shape.
func (f *fakeTerminal) size() Shape {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shape
}

// atHand reports whether the process is in the foreground.
func (f *fakeTerminal) atHand() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.away
}

// change changes the terminal.
func (f *fakeTerminal) change(to func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to()
}

// step reports that so many steps are done.
func (f *fakeTerminal) step(n int64) {
	f.tell(report.Step{Step: n, Steps: 3000, Epoch: 1, Interval: second / 50})
}

// tell adds an event to the state of the run.
func (f *fakeTerminal) tell(e report.Event) {
	f.run.add(e)
	f.file.screen.touch()
}

// onTerminal runs test with a terminal of 80 columns in a bubble with a clock of its own.
func onTerminal(t *testing.T, test func(f *fakeTerminal)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTerminal{shape: Shape{Columns: 80, Rows: 8, Unicode: true}}
		f.file = &screenFile{out: f, screen: &screen{shape: f.size}}
		f.file.screen.follow(f, &f.run, f.atHand)
		f.tell(mnistStart())
		f.step(1)
		test(f)
	})
}

// flatBlock is the beginning of the block in 8 rows.
const flatBlock = "╸            0 %"

// TestLiveDraws verifies that the block is drawn at most five times a second, and that a line is shown at once, above
// it.
func TestLiveDraws(t *testing.T) {
	onTerminal(t, func(f *fakeTerminal) {
		for n := range int64(100) {
			f.step(n + 1)
			time.Sleep(20 * time.Millisecond)
		}
		f.taken()
		if f.writes < 9 || f.writes > 10 {
			t.Errorf("%d draws in two seconds, want 10", f.writes)
		}
		fmt.Fprintln(f.file, "warning: no")
		if got := f.taken(); got != "\r\x1b[Jwarning: no\n" {
			t.Errorf("a line is shown as %q, want it in the place of the block", got)
		}
		time.Sleep(drawEvery)
		if got := f.taken(); !strings.HasPrefix(got, "╸            3 %") {
			t.Errorf("then %q is shown, want the block", got)
		}
	})
}

// TestLiveRows verifies that a block of several rows is cleared as a whole.
func TestLiveRows(t *testing.T) {
	onTerminal(t, func(f *fakeTerminal) {
		f.change(func() { f.shape.Rows = 24 })
		time.Sleep(drawEvery)
		if rows := strings.Count(f.taken(), "\n") + 1; rows != 3 {
			t.Errorf("the block has %d rows, want 3", rows)
		}
		f.step(2)
		time.Sleep(drawEvery)
		if got := f.taken(); !strings.HasPrefix(got, "\r\x1b[2A\x1b[J") {
			t.Errorf("the next draw is %q, want it to begin two rows above", got)
		}
	})
}

// TestLiveEnd verifies that the last state of the block stays above the result, once, and that nothing is drawn
// afterwards.
func TestLiveEnd(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		onTerminal(t, func(f *fakeTerminal) {
			if drawn {
				time.Sleep(drawEvery)
			}
			f.taken()
			f.step(3000)
			f.tell(report.Done{})
			fmt.Fprint(f.file, "result\nmore\n")
			time.Sleep(time.Second)
			f.file.screen.end()
			got, clear := f.taken(), ""
			if drawn {
				clear = "\r\x1b[J"
			}
			if !strings.HasPrefix(got, clear+"━━━━━━━━━━━━ 100 %") || !strings.HasSuffix(got, "step 3,000  0 examples/s\nresult\nmore\n") || strings.Count(got, "%") != 1 {
				t.Errorf("drawn=%v: the end is %q, want the block and the result, once", drawn, got)
			}
		})
	}
}

// TestLiveResized verifies that a block of a terminal that has become narrower stays, because nobody knows the rows on
// which it is shown.
func TestLiveResized(t *testing.T) {
	onTerminal(t, func(f *fakeTerminal) {
		time.Sleep(drawEvery)
		f.taken()
		f.change(func() { f.shape.Columns = 30 })
		f.step(2)
		time.Sleep(drawEvery)
		got := f.taken()
		if line, ok := strings.CutPrefix(got, "\n"); !ok || strings.Contains(got, "\x1b") || Width(line) > 29 {
			t.Errorf("in 30 columns shows %q, want a new line and a block", got)
		}
	})
}

// TestLiveBackground verifies that a job in the background draws nothing but its lines, and that Ctrl-Z leaves the
// cursor below the block, which is drawn anew after fg.
func TestLiveBackground(t *testing.T) {
	onTerminal(t, func(f *fakeTerminal) {
		f.change(func() { f.away = true })
		time.Sleep(drawEvery)
		drawn := f.taken()
		fmt.Fprintln(f.file, "line")
		if got := f.taken(); drawn != "" || got != "line\n" {
			t.Errorf("in the background shows %q and %q, want the line alone", drawn, got)
		}
		f.change(func() { f.away = false })
		time.Sleep(drawEvery)
		if got := f.taken(); !strings.HasPrefix(got, flatBlock) {
			t.Errorf("in the foreground shows %q, want the block", got)
		}
		f.file.screen.suspend(func() {
			if got := f.taken(); got != "\n" {
				t.Errorf("before it stops, %q is shown, want the end of the line", got)
			}
		})
		time.Sleep(drawEvery)
		if got := f.taken(); !strings.HasPrefix(got, flatBlock) {
			t.Errorf("after fg %q is shown, want the block on a line of its own", got)
		}
		f.file.screen.end()
		if got := f.taken(); got != "\n" {
			t.Errorf("at the end %q is shown, want the end of the line", got)
		}
	})
}

// TestLiveBlocked verifies that a terminal that takes no output does not hold the events of a run up.
func TestLiveBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, stuck := io.Pipe()
		s := &screen{shape: func() Shape { return Shape{Columns: 80, Rows: 24} }}
		f := &fakeTerminal{file: &screenFile{out: stuck, screen: s}}
		s.follow(stuck, &f.run, f.atHand)
		f.tell(mnistStart())
		f.tell(report.Step{Step: 1, Steps: 2})
		time.Sleep(drawEvery)
		synctest.Wait() // the draw waits
		f.tell(report.Step{Step: 2, Steps: 2})
		f.tell(report.Done{})
		read.Close()
	})
}
