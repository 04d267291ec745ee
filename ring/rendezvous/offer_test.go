package rendezvous

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
)

// TestOffersMet verifies that over sockets all workers of a generation get the highest common value
// and the first rank that lacks a higher one, and that the status has both.
func TestOffersMet(t *testing.T) {
	s := serve(t, ServerConfig{})
	all := s.workers(3)
	for rank, values := range [][]string{{"portable", "avx2", "avx512"}, {"portable", "avx2", "avx512"}, {"portable", "avx2"}} {
		all[rank].Offers = []state.Offer{{Name: "kernels", Values: values}}
	}
	want := ring.Choice{Name: "kernels", Value: "avx2", Lacks: 2}
	sessions := joinAll(t, all...)
	defer closeAll(sessions...)
	for rank, m := range sessions {
		if got := m.Membership().Choice("kernels"); got != want {
			t.Errorf("rank %d is told %+v, want %+v", rank, got, want)
		}
	}
	if got := wire.DecodeStatus(wire.EncodeStatus(s.Status())).Choices; !cmp.Equal(got, []ring.Choice{want}) {
		t.Errorf("the status has %+v, want %+v", got, want)
	}
}
