package codec

import "ringtrain/ring/internal/vec"

// None is the exact codec: every element is its own 4 bytes.
//
//	0        4        8               4n
//	┌────────┬────────┬───┬──────────┐
//	│  x[0]  │  x[1]  │ … │  x[n-1]  │   float32, little-endian
//	└────────┴────────┴───┴──────────┘
//
// All bits are kept, those of NaNs too.
var None Codec = none{}

type none struct{}

func (none) ID() uint8            { return 0 }
func (none) String() string       { return "none" }
func (none) Lossy() bool          { return false }
func (none) EncodedLen(n int) int { return 4 * n }

func (c none) Append(dst []byte, src []float32) []byte {
	dst, payload := extend(dst, c.EncodedLen(len(src)))
	vec.PutF32(payload, src)
	return dst
}

func (c none) Decode(dst []float32, payload []byte) error {
	if err := checkLen(c, len(dst), payload); err != nil {
		return err
	}
	vec.GetF32(dst, payload)
	return nil
}

func (c none) DecodeAdd(dst []float32, payload []byte) error {
	if err := checkLen(c, len(dst), payload); err != nil {
		return err
	}
	vec.AddF32(dst, payload)
	return nil
}
