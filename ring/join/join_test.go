package join

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// TestJoinEnvironment verifies that Join finds the place of a worker in the environment, and
// that it refuses a process that the job does not need.
func TestJoinEnvironment(t *testing.T) {
	noLeak(t)
	t.Setenv("RINGTRAIN_RANK", "0")
	t.Setenv("RINGTRAIN_WORLD_SIZE", "1")
	g, err := Join(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := g.Membership(); m.Rank != 0 || m.Size() != 1 {
		t.Errorf("rank %d of %d, want 0 of 1", m.Rank, m.Size())
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := g.Barrier(t.Context()); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("barrier after close: %v, want ErrClosed", err)
	}
	t.Setenv("RINGTRAIN_RANK", "")
	t.Setenv("TF_CONFIG", `{"cluster":{"worker":["a:1"],"ps":["b:1"]},"task":{"type":"ps","index":0}}`)
	if _, err := Join(t.Context(), Options{}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("a parameter server joins with error %v, want code 64", err)
	}
}

// TestCloseAfterFailure verifies that Close of a group whose operation has failed reports the
// failure and does not wait for the other worker, which still uses its group. The failure ends
// the other worker's operation and names the rank at fault.
func TestCloseAfterFailure(t *testing.T) {
	noLeak(t)
	secret := token.New()
	server, err := Serve("127.0.0.1:0", false, rendezvous.ServerConfig{WorldSize: 2, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	join := func(rank int) (*ring.Group, error) {
		p := place.Place{Rank: rank, WorldSize: 2, LocalRank: -1, Rendezvous: server.Addr(), Listen: "127.0.0.1:0"}
		return Join(t.Context(), Options{Place: &p, Config: Config{Token: secret}})
	}
	other := make(chan error, 1)
	go func() {
		g, err := join(1)
		if err != nil {
			other <- err
			return
		}
		err = g.Barrier(context.Background())
		other <- errors.Join(err, g.Close())
	}()
	g, err := join(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exitcode.With(exitcode.BadData, errors.New("record 7 is bad")))
	if err := g.Barrier(ctx); err == nil {
		t.Error("a barrier under an ended context passed")
	}
	start := time.Now()
	err = g.Close()
	if took := time.Since(start); took > closeTimeout/2 {
		t.Errorf("Close took %v, want far less than the %v of a good end", took, closeTimeout)
	}
	for who, err := range map[string]error{"rank 0": err, "rank 1": <-other} {
		if err == nil || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "record 7 is bad") || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%s: error %v with code %d, want rank 0, its record and %d", who, err, exitcode.Of(err), exitcode.BadData)
		}
	}
}
