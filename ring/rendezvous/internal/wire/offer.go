package wire

import (
	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Bounds of the offers of one worker.
const (
	maxOffers      = 16
	maxOfferValues = 64
)

func encodeOffers(offers []state.Offer) []*pb.Offer {
	var list []*pb.Offer
	for _, o := range offers {
		p := &pb.Offer{Name: phrase.Name(o.Name)}
		for _, v := range o.Values {
			p.Values = append(p.Values, phrase.Name(v))
		}
		list = append(list, p)
	}
	return list
}

func decodeOffers(list []*pb.Offer) []state.Offer {
	var offers []state.Offer
	for _, p := range list[:min(len(list), maxOffers)] {
		o := state.Offer{Name: phrase.Name(p.GetName())}
		for _, v := range p.GetValues()[:min(len(p.GetValues()), maxOfferValues)] {
			o.Values = append(o.Values, phrase.Name(v))
		}
		offers = append(offers, o)
	}
	return offers
}

func encodeChoices(choices []ring.Choice) []*pb.Choice {
	var list []*pb.Choice
	for _, c := range choices {
		list = append(list, &pb.Choice{Name: phrase.Name(c.Name), Value: phrase.Name(c.Value), Was: phrase.Name(c.Was), Lacks: int32(c.Lacks + 1)})
	}
	return list
}

// decodeChoices converts at most maxOffers choices from their messages.
func decodeChoices(list []*pb.Choice) []ring.Choice {
	var choices []ring.Choice
	for _, p := range list[:min(len(list), maxOffers)] {
		choices = append(choices, ring.Choice{
			Name: phrase.Name(p.GetName()), Value: phrase.Name(p.GetValue()), Was: phrase.Name(p.GetWas()), Lacks: int(max(p.GetLacks(), 0)) - 1,
		})
	}
	return choices
}
