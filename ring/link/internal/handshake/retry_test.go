package handshake

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

var neighbour = ring.Worker{Rank: 2, Host: "b", Addr: "10.0.0.7:4402"}

// TestRetryLate verifies that a neighbour that starts late is reached soon after its start,
// with pauses between the attempts before.
func TestRetryLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, attempts := time.Now(), 0
		got, _, err := Retry(t.Context(), linkPauses, func(context.Context) (int, error) {
			attempts++
			if time.Since(start) < 3*time.Second {
				return 0, errors.New("connection refused")
			}
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Fatalf("%d, %v, want 7", got, err)
		}
		if late := time.Since(start); late > 3*time.Second+linkPauses.Last {
			t.Errorf("reached after %v, want at most %v after it was there", late, linkPauses.Last)
		}
		if attempts < 15 || attempts > 22 {
			t.Errorf("%d attempts in 3 s, want about one each 200 ms", attempts)
		}
	})
}

// TestRetryGivesUp verifies that Retry returns at the end of its context, and that the error has the
// reason of the last attempt, not the end of the context.
func TestRetryGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		refused := errors.New("connection refused")
		_, attempts, err := Retry(ctx, linkPauses, func(ctx context.Context) (int, error) {
			if ended(ctx) {
				return 0, ctx.Err()
			}
			return 0, refused
		})
		if err != refused || attempts < 5 {
			t.Errorf("%d attempts, error %v, want 5 or more and the reason", attempts, err)
		}
	})
}

// TestRetryFinal verifies that Retry stops after an error that no further attempt can
// change.
func TestRetryFinal(t *testing.T) {
	for _, code := range []int{exitcode.Protocol, exitcode.Usage} {
		_, attempts, err := Retry(t.Context(), linkPauses, func(context.Context) (int, error) {
			return 0, exitcode.With(code, errors.New("no"))
		})
		if attempts != 1 || exitcode.Of(err) != code {
			t.Errorf("%d attempts, error %v, want 1 and code %d", attempts, err, code)
		}
	}
}

// TestRefusalsExplain verifies that the error about a missing worker names the last refused
// connection.
func TestRefusalsExplain(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("start timeout")
	cancel(cause)
	var v Refusals
	if err := v.explain(ctx); !strings.Contains(err.Error(), "nobody was refused") || !errors.Is(err, cause) {
		t.Errorf("error %v, want that nobody came, and the cause", err)
	}
	v.add(from("10.0.0.8:1"), io.ErrUnexpectedEOF)
	v.add(from("10.0.0.9:2"), errors.New("generation is 3, want 4"))
	err := v.explain(ctx)
	for _, want := range []string{"of 2 refused", "10.0.0.9:2", "generation is 3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if code := exitcode.Of(peerError(opAccept, neighbour, err)); code != exitcode.Retry {
		t.Errorf("code %d, want exitcode.Retry: a stranger's fault is not this job's", code)
	}
}

// from is a connection from an address.
type from string

func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(string(f)))
}
