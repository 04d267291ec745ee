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
	NoticeSink = state.NoticeSink
)

// The values of [NoticeSink].
const (
	NoticeOwnerAndRank0 = state.NoticeOwnerAndRank0
	NoticeOwner         = state.NoticeOwner
	NoticeRank0         = state.NoticeRank0
)

// ChooseAlone returns the choices of a worker without others.
func ChooseAlone(offers []Offer) []ring.Choice { return state.ChooseAlone(offers) }
