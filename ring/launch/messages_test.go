package launch

import (
	"errors"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestFaultText verifies that a fault which an agent on another host tells is one printable line, with its
// code.
func TestFaultText(t *testing.T) {
	said := faultOf(exitcode.With(exitcode.NoInput, errors.New("one\ntwo")))
	said.Text += "\x1b[2J\u2028"
	if err := said.error(); err.Error() != "one two?[2J?" || exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("the fault is %q with code %d", err, exitcode.Of(err))
	}
}
