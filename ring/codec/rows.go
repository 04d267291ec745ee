package codec

import (
	"encoding/binary"
	"errors"
)

// Rows writes only what is not zero, exactly: for gradients of embedding tables
// and sparse weights, of which a step touches few rows. Where the neighbours'
// rows meet they are added on the way, so that what travels is the union of the
// rows touched so far; once that is no shorter than all of the elements, the
// ring sends those instead (Renggli et al., "SparCML: high-performance sparse
// communication for machine learning", 2019).
//
// The payload is a sequence of runs, each of words of 32 bits of which none is
// zero, in ascending order:
//
//	┌─────────────┬────────────┬────────────────────┬─
//	│ zeros before│ words in it│  the words         │  …
//	│   varint    │   varint   │  4 bytes each      │
//	└─────────────┴────────────┴────────────────────┴─
//
// A row of an embedding is one run, whatever its width, and a row's number
// costs the bytes of its distance from the one before. Zeros after the last run
// are not written. What is left over when the input is cut into words, up to 3
// bytes, stands before the first run.
//
// All bits are kept: -0 is not zero here.
var Rows Compressor = rows{}

type rows struct{}

const wordBytes = 4

func (rows) ID() uint8      { return 4 }
func (rows) String() string { return "rows" }

// MaxLen: two words of which one is zero become 6 bytes instead of 8, so that
// only the first and the longest run can make it longer.
func (rows) MaxLen(n int) int { return n + 2*binary.MaxVarintLen64 }

func (rows) Append(dst, src []byte) []byte {
	odd := len(src) % wordBytes
	words := src[:len(src)-odd]
	dst = append(dst, src[len(src)-odd:]...)
	for at := 0; ; {
		from := skipZeros(words, at)
		if from == len(words) {
			return dst
		}
		to := skipRun(words, from)
		dst = binary.AppendUvarint(dst, uint64(from-at)/wordBytes)
		dst = binary.AppendUvarint(dst, uint64(to-from)/wordBytes)
		dst = append(dst, words[from:to]...)
		at = to
	}
}

// skipZeros returns the offset of the first word from at on that is not zero.
func skipZeros(words []byte, at int) int {
	const stride = 4 * 8
	for ; at+stride <= len(words); at += stride {
		w := words[at : at+stride : at+stride]
		if binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[8:])|
			binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]) != 0 {
			break
		}
	}
	for at < len(words) && binary.LittleEndian.Uint32(words[at:]) == 0 {
		at += wordBytes
	}
	return at
}

// skipRun returns the offset of the first word from at on that is zero.
func skipRun(words []byte, at int) int {
	const stride = 2 * 8
	for at+stride <= len(words) {
		w := words[at : at+stride : at+stride]
		if zeroWord(binary.LittleEndian.Uint64(w))|zeroWord(binary.LittleEndian.Uint64(w[8:])) != 0 {
			break
		}
		at += stride
	}
	for at < len(words) && binary.LittleEndian.Uint32(words[at:]) != 0 {
		at += wordBytes
	}
	return at
}

// zeroWord is not 0 if one of the two words of w is: to subtract 1 sets the
// highest bit of a word that had it clear only if the word was 0, or if the
// lower one was and has borrowed.
func zeroWord(w uint64) uint64 {
	return (w - 0x0000_0001_0000_0001) &^ w & 0x8000_0000_8000_0000
}

// What a payload may not hold.
var (
	errRowsVarint = errors.New("a run has no length")
	errRowsEnd    = errors.New("a run ends beyond the elements, or beyond the payload")
	errRowsEmpty  = errors.New("a run is empty")
	errRowsOdd    = errors.New("the bytes that are no whole word are missing")
)

func (c rows) Decode(dst, payload []byte) error {
	odd := len(dst) % wordBytes
	words := dst[:len(dst)-odd]
	if len(payload) < odd {
		return decodeError(c, payload, errRowsOdd)
	}
	clear(words)
	copy(dst[len(dst)-odd:], payload)
	for in := payload[odd:]; len(in) > 0; {
		gap, n := binary.Uvarint(in)
		if n <= 0 {
			return decodeError(c, payload, errRowsVarint)
		}
		run, m := binary.Uvarint(in[n:])
		if m <= 0 {
			return decodeError(c, payload, errRowsVarint)
		}
		in = in[n+m:]
		left := uint64(len(words) / wordBytes)
		switch {
		case run == 0:
			return decodeError(c, payload, errRowsEmpty)
		case gap > left || run > left-gap || run > uint64(len(in)/wordBytes):
			return decodeError(c, payload, errRowsEnd)
		}
		words = words[gap*wordBytes:]
		copy(words, in[:run*wordBytes])
		words, in = words[run*wordBytes:], in[run*wordBytes:]
	}
	return nil
}
