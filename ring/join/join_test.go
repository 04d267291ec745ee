package join

import (
	"errors"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
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
