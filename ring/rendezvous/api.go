package rendezvous

import (
	"ringtrain/ring"
	"ringtrain/ring/rendezvous/state"
)

// The types of package state that callers of this package name.
type (
	Status     = state.Status
	RankStatus = state.RankStatus
	Waiting    = state.Waiting
	Missing    = state.Missing
	Offer      = state.Offer
	Verdict    = state.Verdict
	GaveUp     = state.GaveUp
	Teller     = state.Teller
)

// The values of [Teller].
const (
	BothTell   = state.BothTell
	OwnerTells = state.OwnerTells
	Rank0Tells = state.Rank0Tells
)

// Alone is what a worker without others chooses of its own offers.
func Alone(offers []Offer) []ring.Choice { return state.Alone(offers) }
