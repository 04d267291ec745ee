package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

// TestOutputMuxAfterFault verifies that ranks do not block after a fault of an output, and
// that close returns the fault.
func TestOutputMuxAfterFault(t *testing.T) {
	var err bytes.Buffer
	o := newOutputMux(fullDisk{}, &err, false, nil)
	o.write(false, []byte("a\n"), nil)
	o.write(false, []byte("b\n"), nil)
	o.write(true, []byte("c\n"), nil)
	if _, got := o.close(); got == nil || got.Error() != "disk is full" {
		t.Errorf("fault is %v, want that of the disk", got)
	}
	if err.String() != "c\n" {
		t.Errorf("the other output has %q, want %q", err.String(), "c\n")
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

// TestOutputMuxWithoutReader verifies that a closed pipe, as with `| head`, is no fault and
// is told once.
func TestOutputMuxWithoutReader(t *testing.T) {
	var notices []string
	o := newOutputMux(closedPipe{}, closedPipe{}, false, func(text string) { notices = append(notices, text) })
	for range 3 {
		o.write(false, []byte("a\n"), nil)
		o.write(true, []byte("b\n"), nil)
	}
	if _, err := o.close(); err != nil || len(notices) != 1 || !strings.Contains(notices[0], "goes on without") {
		t.Errorf("fault is %v and the notices %q, want none and one", err, notices)
	}
}

// pager takes one Write for each word that it gets.
type pager struct {
	next chan struct{}
	read []byte
}

func (p *pager) Write(b []byte) (int, error) {
	<-p.next
	p.read = append(p.read, b...)
	return len(b), nil
}

// TestOutputMuxBlocked verifies that writers wait for a slow reader within a bound of
// memory, and that close gives up a reader that has stopped, but not a slow one.
func TestOutputMuxBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices []string
		p := &pager{next: make(chan struct{})}
		o := newOutputMux(p, io.Discard, false, func(text string) { notices = append(notices, text) })
		half := bytes.Repeat([]byte("x"), queueLimit/2)
		written := 0
		go func() {
			for range 6 {
				o.write(false, half, nil)
				written++
			}
		}()
		synctest.Wait()
		if written != 3 { // two lines wait, and one is being written
			t.Errorf("%d pieces were taken while nobody reads, want 3", written)
		}
		o.raiseLimit(false)
		synctest.Wait()
		if written != 6 {
			t.Errorf("%d pieces were taken after the end, want 6", written)
		}
		go func() { // reads slowly, then stops reading
			for range 2 {
				time.Sleep(unreadTimeout - time.Second)
				p.next <- struct{}{}
			}
		}()
		began := time.Now()
		if unread, err := o.close(); !unread || err != nil {
			t.Errorf("unread is %v, the fault %v", unread, err)
		}
		if took := time.Since(began); took < 2*(unreadTimeout-time.Second)+unreadTimeout-time.Second || took > 4*unreadTimeout || len(p.read) != 2*len(half) {
			t.Errorf("gave up after %v and %d bytes, want to wait while bytes move", took, len(p.read))
		}
		if !slices.Equal(notices, []string{"the last lines of the ranks are lost: they were not read for 5s"}) {
			t.Errorf("notices are %q", notices)
		}
		close(p.next)
	})
}

// TestOutputMuxOneBlocked verifies that a reader that has stopped stalls neither the other
// output nor the notices.
func TestOutputMuxOneBlocked(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		t.Run(fmt.Sprintf("stderr=%v", blocked), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pager{next: make(chan struct{})}
				var free bytes.Buffer
				to := [2]io.Writer{p, &free}
				if blocked {
					to[0], to[1] = to[1], to[0]
				}
				o := newOutputMux(to[0], to[1], false, func(string) { <-p.next })
				go func() {
					for range 3 {
						o.write(blocked, make([]byte, queueLimit), nil)
					}
				}()
				synctest.Wait()
				var want []byte
				for i := range 100 {
					line := fmt.Appendf(nil, "line %d\n", i)
					o.write(!blocked, line, nil)
					o.tell("notice")
					want = append(want, line...)
				}
				synctest.Wait()
				if !bytes.Equal(free.Bytes(), want) {
					t.Errorf("the other output has %q", free.Bytes())
				}
				began := time.Now()
				unread, err := o.close()
				if unread == blocked || err != nil {
					t.Errorf("unread is %v, the fault %v", unread, err)
				}
				if took := time.Since(began); took != unreadTimeout+noticeTimeout {
					t.Errorf("close took %v, want %v", took, unreadTimeout+noticeTimeout)
				}
				close(p.next)
			})
		})
	}
}

// TestOutputMuxOfOne verifies that the lines of two outputs that lead to one terminal keep
// their order, and that one is written at a time.
func TestOutputMuxOfOne(t *testing.T) {
	var both bytes.Buffer // the race detector reports two writers at a time
	o := newOutputMux(&both, &both, true, nil)
	var want []byte
	for i := range 1000 {
		line := fmt.Appendf(nil, "line %d\n", i)
		o.write(i%3 == 0, line, nil)
		want = append(want, line...)
	}
	if unread, err := o.close(); unread || err != nil || !bytes.Equal(both.Bytes(), want) {
		t.Errorf("unread is %v, the fault %v, order kept: %v", unread, err, bytes.Equal(both.Bytes(), want))
	}
}

// TestOutputMuxDropping verifies that the output of ending ranks is bounded, and that
// people read how much was dropped.
func TestOutputMuxDropping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{next: make(chan struct{})}
		var notices []string
		o := newOutputMux(p, io.Discard, false, func(text string) { notices = append(notices, text) })
		o.raiseLimit(true)
		piece := make([]byte, finalQueueLimit/4)
		for range 7 { // one is being written, four fit
			o.write(false, piece, nil)
			synctest.Wait()
		}
		go func() {
			for range 5 {
				p.next <- struct{}{}
			}
		}()
		unread, err := o.close()
		if want := fmt.Sprintf("%d bytes of what the ranks have written are lost: they were not read in time", 2*len(piece)); unread || err != nil || !slices.Equal(notices, []string{want}) {
			t.Errorf("unread is %v, the fault %v and the notices %q, want %q", unread, err, notices, want)
		}
	})
}
