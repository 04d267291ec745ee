package rendezvous

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
)

// TestOffersOverTheWire verifies that offers and choices are what they were on the other side, also those of nobody and of
// no rank, and that a worker that offers without end has a bounded part of it taken in.
func TestOffersOverTheWire(t *testing.T) {
	offers := []Offer{{"kernels", []string{"portable", "avx2"}}, {"other", nil}}
	if got := joinFromWire(joinToWire(Request{Offers: offers})).Offers; !cmp.Equal(got, offers) {
		t.Errorf("offers are %v on the other side, want %v", got, offers)
	}
	choices := []ring.Choice{{Name: "kernels", Value: "avx2", Was: "avx512", Lacks: 0}, {Name: "other", Value: "x", Lacks: -1}}
	if got := choicesFromWire(choicesToWire(choices)); !cmp.Equal(got, choices) {
		t.Errorf("choices are %v on the other side, want %v", got, choices)
	}
	many := offersToWire([]Offer{{"kernels", slices.Repeat([]string{"v"}, 3*maxOfferValues)}})
	got := offersFromWire(slices.Repeat(many, 3*maxOffers))
	if len(got) != maxOffers || len(got[0].Values) != maxOfferValues {
		t.Errorf("%d offers of %d values were taken in, want %d of %d", len(got), len(got[0].Values), maxOffers, maxOfferValues)
	}
}

// TestOffersMet verifies that over sockets all workers of a generation are told the highest set that all of them have, and
// which rank lacks a higher one; and that who asks for the status hears of it.
func TestOffersMet(t *testing.T) {
	s := serve(t, ServerConfig{})
	all := s.workers(3)
	for rank, values := range [][]string{{"portable", "avx2", "avx512"}, {"portable", "avx2", "avx512"}, {"portable", "avx2"}} {
		all[rank].Offers = []Offer{{"kernels", values}}
	}
	want := ring.Choice{Name: "kernels", Value: "avx2", Lacks: 2}
	sessions := joinAll(t, all...)
	defer closeAll(sessions...)
	for rank, m := range sessions {
		if got := m.Membership().Choice("kernels"); got != want {
			t.Errorf("rank %d is told %+v, want %+v", rank, got, want)
		}
	}
	if got := statusFromWire(statusToWire(s.Status())).Choices; !cmp.Equal(got, []ring.Choice{want}) {
		t.Errorf("the status has %+v, want %+v", got, want)
	}
}
