package idx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// kind is the type of the elements of a file.
type kind byte

const (
	kindUint8   kind = 0x08
	kindInt8    kind = 0x09
	kindInt16   kind = 0x0b
	kindInt32   kind = 0x0c
	kindFloat32 kind = 0x0d
	kindFloat64 kind = 0x0e
)

func (k kind) String() string {
	switch k {
	case kindUint8:
		return "uint8"
	case kindInt8:
		return "int8"
	case kindInt16:
		return "int16"
	case kindInt32:
		return "int32"
	case kindFloat32:
		return "float32"
	case kindFloat64:
		return "float64"
	}
	return fmt.Sprintf("unknown type 0x%02x", byte(k))
}

// bytes returns the length of an element, 0 for an unknown kind.
func (k kind) bytes() int64 {
	switch k {
	case kindUint8, kindInt8:
		return 1
	case kindInt16:
		return 2
	case kindInt32, kindFloat32:
		return 4
	case kindFloat64:
		return 8
	}
	return 0
}

// header is the header of a file.
type header struct {
	kind kind
	dims []uint32
}

// shape formats the sizes as 60000×28×28.
func (h header) shape() string {
	words := make([]string, len(h.dims))
	for i, d := range h.dims {
		words[i] = strconv.FormatUint(uint64(d), 10)
	}
	return strings.Join(words, "×")
}

// payload returns the number of bytes of count elements with dimensions dims. ok is
// false if the number overflows int64.
func (h header) payload(dims []uint32) (int64, bool) {
	n := h.kind.bytes()
	for _, d := range dims {
		if d > 0 && n > math.MaxInt64/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}

// readHeader reads and checks the header of f.
func readHeader(f *input.File) (header, error) {
	var word [4]byte
	if _, err := io.ReadFull(f, word[:]); err != nil {
		return header{}, input.ReadError(f.Name, err)
	}
	h := header{kind: kind(word[2]), dims: make([]uint32, word[3])}
	if word[0] != 0 || word[1] != 0 || h.kind.bytes() == 0 || len(h.dims) == 0 {
		return header{}, flaw(f.Name, "magic is %x, want 0000, a type (08 to 0e) and a number of dimensions", word)
	}
	for i := range h.dims {
		if _, err := io.ReadFull(f, word[:]); err != nil {
			return header{}, input.ReadError(f.Name, err)
		}
		h.dims[i] = binary.BigEndian.Uint32(word[:])
	}
	return h, nil
}

// flaw returns an error about the content of a file.
func flaw(name, format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("idx: %s: "+format, append([]any{name}, args...)...))
}
