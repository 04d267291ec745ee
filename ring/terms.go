package ring

import (
	"fmt"

	"ringtrain/ring/exitcode"
)

// terms are what an operation over links is. All its frames carry them: ranks that do
// different operations are told so by the first frame, before anything is summed.
type terms struct {
	word   uint32 // bits 0–2 kind, 3–5 algorithm, 6–9 codec, 10 tails
	length uint32 // of the buffer in elements, modulo 2³²; of a broadcast the root, of a sum of rows the tables' checksum, and else 0
}

// termsOf are the terms of an operation of a kind without an algorithm.
func termsOf(kind opKind, length int) terms { return terms{uint32(kind), uint32(length)} }

// termsIn are those that f carries.
func termsIn(f *Frame) terms { return terms{f.Terms, f.Length} }

// terms are those of r.
func (r *Reduction) terms(by Algorithm) terms {
	t := termsOf(opAllReduce, len(r.Buf))
	t.word |= uint32(by) << 3
	if r.Codec != nil {
		t.word |= uint32(r.Codec.ID()&15) << 6
	}
	if r.Tails != nil {
		t.word |= 1 << 10
	}
	return t
}

func (t terms) kind() opKind         { return opKind(t.word & 7) }
func (t terms) algorithm() Algorithm { return Algorithm(t.word >> 3 & 7) }
func (t terms) codec() uint8         { return uint8(t.word >> 6 & 15) }
func (t terms) tails() uint8         { return uint8(t.word >> 10 & 1) }

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
func (w *wire) differ(mine, theirs terms, from side, step int) error {
	them := "the neighbour"
	if worker, ok := w.neighbour(from, step); ok {
		them = fmt.Sprintf("rank %d", worker.Rank)
	}
	between := func(what string, a, b any) error {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("%w: %s is %v on rank %d, %v on %s", ErrRanksDiffer, what, a, w.members.Self().Rank, b, them))
	}
	switch {
	case mine.kind() != theirs.kind():
		return between("operation", mine.kind(), kindName(theirs.kind()))
	case mine.algorithm() != theirs.algorithm():
		return between("algorithm", fmt.Sprintf("%v for %d elements", mine.algorithm(), w.elements), algorithmName(theirs.algorithm()))
	case mine.codec() != theirs.codec():
		return between("codec", codecName(mine.codec()), codecName(theirs.codec()))
	case mine.tails() != theirs.tails():
		return between("number of tails", mine.tails(), theirs.tails())
	case mine.kind() == opBroadcast:
		return between("root", mine.length, theirs.length)
	case mine.kind() == opRows:
		return between("checksum of the tables", mine.length, theirs.length)
	default:
		return between("length in elements", mine.length, theirs.length)
	}
}
