package handshake

import (
	"context"
	"errors"
	"io"
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
		got, err := retry(t.Context(), neighbour, func(context.Context) (int, error) {
			attempts++
			if time.Since(start) < 3*time.Second {
				return 0, errors.New("connection refused")
			}
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Fatalf("%d, %v, want 7", got, err)
		}
		if late := time.Since(start); late > 3*time.Second+lastPause {
			t.Errorf("reached after %v, want at most %v after it was there", late, lastPause)
		}
		if attempts < 15 || attempts > 22 {
			t.Errorf("%d attempts in 3 s, want about one each 200 ms", attempts)
		}
	})
}

// TestRetryGivesUp verifies that the error names the neighbour and the reason and keeps the
// cause of the context's end.
func TestRetryGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("start timeout")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		_, err := retry(ctx, neighbour, func(context.Context) (int, error) { return 0, errors.New("connection refused") })
		pe, ok := errors.AsType[*ring.PeerError](err)
		if !ok || pe.Op != "handshake" || pe.Rank != 2 || pe.Host != "b" || pe.Addr != neighbour.Addr {
			t.Errorf("error %v, want a PeerError of the handshake with %v", err, neighbour)
		}
		if exitcode.Of(err) != exitcode.Retry || !errors.Is(err, cause) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v (code %d), want exitcode.Retry, reason and cause", err, exitcode.Of(err))
		}
	})
}

// TestRetryFinal verifies that retry stops after an error that no further attempt can
// change.
func TestRetryFinal(t *testing.T) {
	attempts := 0
	_, err := retry(t.Context(), neighbour, func(context.Context) (int, error) {
		attempts++
		return 0, exitcode.With(exitcode.Protocol, errors.New("no"))
	})
	if attempts != 1 || exitcode.Of(err) != exitcode.Protocol {
		t.Errorf("%d attempts, error %v, want 1 and exitcode.Protocol", attempts, err)
	}
}

// TestRefusalsExplain verifies that the error about a missing worker names the last refused
// connection.
func TestRefusalsExplain(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("start timeout")
	cancel(cause)
	var v refusals
	if err := v.explain(ctx); !strings.Contains(err.Error(), "nobody was refused") || !errors.Is(err, cause) {
		t.Errorf("error %v, want that nobody came, and the cause", err)
	}
	v.record("10.0.0.8:1", io.ErrUnexpectedEOF)
	v.record("10.0.0.9:2", errors.New("its proof of the token is wrong"))
	err := v.explain(ctx)
	for _, want := range []string{"of 2 refused", "10.0.0.9:2", "its proof"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if code := exitcode.Of(peerError(opAccept, neighbour, err)); code != exitcode.Retry {
		t.Errorf("code %d, want exitcode.Retry: a stranger's fault is not this job's", code)
	}
}
