package tcplink

import (
	"errors"
	"net"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

// TestClosedListener verifies that Open ends when its queue is closed.
func TestClosedListener(t *testing.T) {
	n := &network{}
	m := world(t, n, 2)[1]
	n.ports[1].Links().Close()
	if _, err := n.Open(t.Context(), m, token.Token{}, []ring.Route{{To: 0, From: 0}}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want net.ErrClosed", err)
	}
}
