package wire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/state"
)

// TestOffersOverTheWire verifies that decoded offers and choices equal the encoded ones, and that
// the decoder bounds the number of offers and values.
func TestOffersOverTheWire(t *testing.T) {
	offers := []state.Offer{{Name: "kernels", Values: []string{"portable", "avx2"}}, {Name: "other", Values: nil}}
	if got := DecodeRequest(EncodeRequest(state.Request{Offers: offers})).Offers; !cmp.Equal(got, offers) {
		t.Errorf("offers are %v on the other side, want %v", got, offers)
	}
	choices := []ring.Choice{{Name: "kernels", Value: "avx2", Was: "avx512", Lacks: 0}, {Name: "other", Value: "x", Lacks: -1}}
	if got := decodeChoices(encodeChoices(choices)); !cmp.Equal(got, choices) {
		t.Errorf("choices are %v on the other side, want %v", got, choices)
	}
	many := encodeOffers([]state.Offer{{Name: "kernels", Values: slices.Repeat([]string{"v"}, 3*maxOfferValues)}})
	got := decodeOffers(slices.Repeat(many, 3*maxOffers))
	if len(got) != maxOffers || len(got[0].Values) != maxOfferValues {
		t.Errorf("%d offers of %d values were taken in, want %d of %d", len(got), len(got[0].Values), maxOffers, maxOfferValues)
	}
}
