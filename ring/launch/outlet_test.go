package launch

import (
	"bytes"
	"errors"
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

// If this failed, ranks would block, and lose time or deadlock, when nobody
// takes their output any more; or the loss would go unnoticed.
func TestOutletAfterFault(t *testing.T) {
	var err bytes.Buffer
	o := newOutlet(fullDisk{}, &err, nil)
	o.write(false, []byte("a\n"))
	o.write(false, []byte("b\n"))
	o.write(true, []byte("c\n"))
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

// If this failed, `| head` would fail a good job, or nobody would know why its lines
// are not there.
func TestOutletWithoutReader(t *testing.T) {
	var notices []string
	o := newOutlet(closedPipe{}, closedPipe{}, func(text string) { notices = append(notices, text) })
	for range 3 {
		o.write(false, []byte("a\n"))
		o.write(true, []byte("b\n"))
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

// If this failed, a launcher would wait for ever for who has stopped to read, or give
// up one that reads slowly, or hold in memory whatever the ranks write meanwhile.
func TestOutletBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices []string
		p := &pager{next: make(chan struct{})}
		o := newOutlet(p, nil, func(text string) { notices = append(notices, text) })
		half := bytes.Repeat([]byte("x"), mostHeldBytes/2)
		written := 0
		go func() {
			for range 6 {
				o.write(false, half)
				written++
			}
		}()
		synctest.Wait()
		if written != 3 { // two that wait, and one that is being written
			t.Errorf("%d pieces were taken while nobody reads, want 3", written)
		}
		o.lift(false)
		synctest.Wait()
		if written != 6 {
			t.Errorf("%d pieces were taken after the end, want 6", written)
		}
		go func() { // reads slowly, and then no more
			for range 2 {
				time.Sleep(unreadTime - time.Second)
				p.next <- struct{}{}
			}
		}()
		began := time.Now()
		if unread, err := o.close(); !unread || err != nil {
			t.Errorf("unread is %v, the fault %v", unread, err)
		}
		if took := time.Since(began); took < 2*(unreadTime-time.Second)+unreadTime-time.Second || took > 4*unreadTime || len(p.read) != 2*len(half) {
			t.Errorf("gave up after %v and %d bytes, want to wait while bytes move", took, len(p.read))
		}
		if !slices.Equal(notices, []string{"the last lines of the ranks are lost: for 5s nobody has read them"}) {
			t.Errorf("notices are %q", notices)
		}
		close(p.next)
	})
}
