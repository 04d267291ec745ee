package ring

import (
	"fmt"

	"ringtrain/ring/exitcode"
)

// terms are what an operation over links is, in a word that all its frames carry: ranks
// that do different operations are told so by the first frame, before anything is summed.
//
//	bits  0–2 kind   3–5 algorithm   6–9 codec   10 tails   11–23 hash of the length
//
// The length is that of the buffer in elements; of a broadcast it is the root, and else 0.
type terms uint32

const (
	termsBits = 24
	hashBits  = 13
)

// termsOf are the terms of an operation of a kind without an algorithm.
func termsOf(kind opKind, length int) terms {
	const spread = 0x9e3779b97f4a7c15 // 2⁶⁴ by the golden ratio: neighbours fall far apart (Knuth, volume 3, 6.4)
	return terms(kind) | terms(uint64(length)*spread>>(64-hashBits)<<(termsBits-hashBits))
}

// terms are those of r.
func (r *Reduction) terms(by Algorithm) terms {
	t := termsOf(opAllReduce, len(r.Buf)) | terms(by)<<3
	if r.Codec != nil {
		t |= terms(r.Codec.ID()&15) << 6
	}
	if r.Tails != nil {
		t |= 1 << 10
	}
	return t
}

func (t terms) kind() opKind         { return opKind(t & 7) }
func (t terms) algorithm() Algorithm { return Algorithm(t >> 3 & 7) }
func (t terms) codec() uint8         { return uint8(t >> 6 & 15) }
func (t terms) tails() uint8         { return uint8(t >> 10 & 1) }

// kindName is the name of a kind, which another rank may have made up.
func kindName(k opKind) string {
	if k == 0 {
		return "none"
	}
	return k.String()
}

// algorithmName is the name of an algorithm, which another rank may have made up.
func algorithmName(a Algorithm) string {
	if int(a) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm %d", uint8(a))
	}
	return a.String()
}

// differ tells in what the terms of this rank differ from those of another one.
func (g *Group) differ(mine, theirs terms, from side, step int) error {
	them := "the neighbour"
	if w, ok := g.neighbour(from, step); ok {
		them = fmt.Sprintf("rank %d", w.Rank)
	}
	between := func(what string, a, b any) error {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("%w: %s is %v on rank %d, %v on %s", ErrRanksDiffer, what, a, g.members.Self().Rank, b, them))
	}
	switch {
	case mine.kind() != theirs.kind():
		return between("operation", mine.kind(), kindName(theirs.kind()))
	case mine.algorithm() != theirs.algorithm():
		return between("algorithm", fmt.Sprintf("%v for %d elements", mine.algorithm(), g.op.elements), algorithmName(theirs.algorithm()))
	case mine.codec() != theirs.codec():
		return between("codec", codecName(mine.codec()), codecName(theirs.codec()))
	case mine.tails() != theirs.tails():
		return between("number of tails", mine.tails(), theirs.tails())
	case mine.kind() == opBroadcast:
		return between("root", "this", "another")
	default:
		return between("length in elements", g.op.elements, "another")
	}
}
