package show

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBoundWrite verifies that a write for which nobody reads is left after messageTimeout, and that
// the return of any other write is awaited.
func TestBoundWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, written := make(chan struct{}), false
		began := time.Now()
		Bound(func() { <-read })
		if took := time.Since(began); took != messageTimeout {
			t.Errorf("returns after %v, want %v", took, messageTimeout)
		}
		close(read)
		Bound(func() {
			time.Sleep(messageTimeout - 1)
			written = true
		})
		if !written {
			t.Error("returns before the write")
		}
	})
}

// TestScreenGone verifies that a terminal that is gone is an error of the next line.
func TestScreenGone(t *testing.T) {
	f := &screenFile{out: failing{}, screen: new(screen)}
	if _, err := f.Write([]byte("line\n")); !errors.Is(err, errFailing) {
		t.Errorf("Write = %v, want %v", err, errFailing)
	}
}

type failing struct{}

var errFailing = errors.New("gone")

func (failing) Write([]byte) (int, error) { return 0, errFailing }
