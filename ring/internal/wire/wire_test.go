package wire

import (
	"errors"
	"io"
	"testing"
)

// TestNoEOF verifies that only io.EOF changes.
func TestNoEOF(t *testing.T) {
	other := errors.New("other")
	for err, want := range map[error]error{io.EOF: io.ErrUnexpectedEOF, other: other} {
		if got := NoEOF(err); got != want {
			t.Errorf("%v becomes %v, want %v", err, got, want)
		}
	}
}
