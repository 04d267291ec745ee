package codec

import "ringtrain/ring/internal/vec"

// None is the exact codec: each element is its 4 bytes.
//
//	0        4        8               4n
//	┌────────┬────────┬───┬──────────┐
//	│  x[0]  │  x[1]  │ … │  x[n-1]  │   float32, little-endian
//	└────────┴────────┴───┴──────────┘
//
// All bits are kept, also those of NaNs.
var None Codec = dense{none{}}

type none struct{}

func (none) ID() uint8            { return 0 }
func (none) String() string       { return "none" }
func (none) Lossy() bool          { return false }
func (none) EncodedLen(n int) int { return 4 * n }

func (none) check(n int, payload []byte) error { return checkLen(none{}, n, payload) }

func (none) put(payload []byte, lo int, src []float32) { vec.PutF32(span(payload, 4, lo, src), src) }
func (none) get(dst []float32, payload []byte, lo int) { vec.GetF32(dst, span(payload, 4, lo, dst)) }
func (none) add(dst []float32, payload []byte, lo int) { vec.AddF32(dst, span(payload, 4, lo, dst)) }
