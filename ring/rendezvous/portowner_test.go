package rendezvous

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// TestWorkersPort verifies that Join and DialStatus say who has the port if a worker with the token
// listens at the address.
func TestWorkersPort(t *testing.T) {
	secret := token.New()
	p, err := port.Listen("127.0.0.1:0", secret)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetOwner(func() port.Owner { return port.Owner{JobID: "x", Rank: 3} })
	at, want := p.Addr(), `is the port of rank 3 of job "x", not of a rendezvous`
	_, err = Join(t.Context(), Options{Addr: at, Token: secret, Self: Self(":1"), WorldSize: 2, Rank: 1, StartTimeout: 1})
	if err == nil || !strings.HasSuffix(err.Error(), want) || exitcode.Of(err) != exitcode.Retry {
		t.Errorf("Join returns %v, want %q and 138", err, want)
	}
	_, err = DialStatus(t.Context(), StatusOptions{Addr: at, Token: secret})
	if fmt.Sprint(err) != "rendezvous at "+at+" not reached: refused: "+want || exitcode.Of(err) != exitcode.Retry {
		t.Errorf("DialStatus returns %v, want %q and 138", err, want)
	}
}
