package ring

import (
	"encoding/binary"
	"fmt"
)

// A Fence is the mark of one generation. Links and shared memory carry it from their first
// bytes on, and close what carries another fence: a worker of an earlier generation, of another
// life of the job, or of a generation of the same number that another rendezvous has formed.
type Fence struct {
	Life       [16]byte // random, drawn with generation 1
	Generation uint64   // from 1
	Issuer     uint64   // instance of the rendezvous that formed the generation
}

// FenceBytes is the number of bytes of a Fence.
const FenceBytes = 16 + 8 + 8

// Fence returns the mark of m's generation.
func (m Membership) Fence() Fence { return Fence{m.Life, m.Generation, m.Issuer} }

// Append appends the bytes of f: life, generation, issuer, little-endian.
func (f Fence) Append(dst []byte) []byte {
	dst = append(dst, f.Life[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, f.Generation)
	return binary.LittleEndian.AppendUint64(dst, f.Issuer)
}

// ParseFence returns the fence that the first FenceBytes bytes of b hold.
func ParseFence(b []byte) Fence {
	le := binary.LittleEndian
	return Fence{[16]byte(b), le.Uint64(b[16:]), le.Uint64(b[24:])}
}

// Difference describes how f differs from want; nil if it does not.
func (f Fence) Difference(want Fence) error {
	switch {
	case f.Life != want.Life:
		return fmt.Errorf("life is %x, want %x", f.Life[:4], want.Life[:4])
	case f.Generation != want.Generation:
		return fmt.Errorf("generation is %d, want %d", f.Generation, want.Generation)
	case f.Issuer != want.Issuer:
		return fmt.Errorf("generation %d is of rendezvous %x, want %x", f.Generation, f.Issuer, want.Issuer)
	}
	return nil
}
