package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"ringtrain/input"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	tailBytes      = 8 // length of the footer, and magic
)

// The least bytes of structs in a footer, by the fields that Parquet requires. They bound the memory of a footer to some 20 times
// its bytes.
const (
	leastElement = 4       // name, end
	leastGroup   = 7       // chunks, bytes, records, end
	leastChunk   = 8       // offset, what is said of its pages or their encryption, end
	maxElements  = 1 << 20 // of the schema
	maxNames     = 64 << 20
)

// footer is what a file says of itself at its end.
type footer struct {
	elements  []element
	rows      int64
	groups    []rowGroup
	encrypted bool
}

// rowGroup has a chunk of each leaf of the schema.
type rowGroup struct {
	rows   int64
	chunks []chunk
}

// chunk is where the pages of a column lie.
type chunk struct {
	codec, physical          int64
	values                   int64
	compressed, uncompressed int64 // bytes
	data, dictionary         int64 // offsets of the first page of each kind, 0 for none
	encrypted, elsewhere     bool
}

// first returns the offset of the first page.
func (c *chunk) first() int64 {
	if c.dictionary > 0 && c.dictionary < c.data {
		return c.dictionary
	}
	return c.data
}

// readFooter reads the footer of a file of so many bytes.
func readFooter(r io.ReaderAt, size int64, limits input.Limits) (*footer, error) {
	var head [4]byte
	var tail [tailBytes]byte
	if size < int64(len(head)+tailBytes) {
		return nil, errors.New("is no Parquet file: it is too short")
	}
	if err := readAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if err := readAt(r, tail[:], size-tailBytes); err != nil {
		return nil, err
	}
	switch end := string(tail[4:]); {
	case end == encryptedMagic:
		return nil, errors.New("is encrypted, want Parquet that is not")
	case string(head[:]) != magic:
		return nil, fmt.Errorf("is no Parquet file: it begins with %q, want %s", head[:], magic)
	case end != magic:
		return nil, fmt.Errorf("is cut: it ends with %q, want the footer of Parquet", tail[4:])
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-tailBytes-int64(len(head)) {
		return nil, fmt.Errorf("its footer says that it has %d bytes, and the file has %d", length, size)
	}
	data := make([]byte, length)
	if err := readAt(r, data, size-tailBytes-length); err != nil {
		return nil, err
	}
	f, err := parseFooter(data)
	if err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	return f, f.check(size-tailBytes-length, limits)
}

func readAt(r io.ReaderAt, p []byte, at int64) error {
	if n, err := r.ReadAt(p, at); n < len(p) {
		return &readError{err}
	}
	return nil
}

// readError is an error of the file, rather than of what it contains.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func parseFooter(data []byte) (*footer, error) {
	c, f := &compact{data: data}, new(footer)
	c.fields(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			c.structs(leastElement, func() {
				f.elements = append(f.elements, readElement(c))
				if len(f.elements) > maxElements {
					c.fail(fmt.Errorf("its schema has more than %d elements", maxElements))
				}
			})
		case id == 3:
			f.rows = c.int()
		case id == 4 && kind == thriftList:
			c.structs(leastGroup, func() { f.groups = append(f.groups, readGroup(c)) })
		default:
			f.encrypted = f.encrypted || id == 8
			return false
		}
		return true
	})
	return f, c.err
}

func readGroup(c *compact) (g rowGroup) {
	c.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			c.structs(leastChunk, func() { g.chunks = append(g.chunks, readChunk(c)) })
		case id == 3:
			g.rows = c.int()
		default:
			return false
		}
		return true
	})
	return g
}

func readChunk(c *compact) (k chunk) {
	c.fields(func(id int64, kind byte) bool {
		if id == 3 && kind == thriftStruct {
			c.numbers(map[int64]*int64{1: &k.physical, 4: &k.codec, 5: &k.values, 6: &k.uncompressed, 7: &k.compressed, 9: &k.data, 11: &k.dictionary})
			return true
		}
		k.elsewhere = k.elsewhere || id == 1
		k.encrypted = k.encrypted || id == 8 || id == 9
		return false
	})
	return k
}

// check returns an error if numbers of the footer cannot be right: end is where the data ends. A record takes a bit in
// memory, so their number is bounded as what a compressed file inflates to.
func (f *footer) check(end int64, limits input.Limits) error {
	rows := int64(0)
	for i, g := range f.groups {
		if g.rows < 0 || g.rows > math.MaxInt64-rows {
			return fmt.Errorf("footer: row group %d has %d records", i, g.rows)
		}
		rows += g.rows
		for k, c := range g.chunks {
			if first := c.first(); g.rows > 0 && first < 4 || c.compressed < 0 || c.uncompressed < 0 || c.values < 0 || first > end || c.compressed > end-first {
				return fmt.Errorf("footer: column %d of row group %d lies at byte %d and has %d bytes, want it before byte %d", k, i, first, c.compressed, end)
			}
		}
	}
	if rows != f.rows {
		return fmt.Errorf("footer: it says %d records, and its row groups have %d", f.rows, rows)
	}
	if err := limits.Decoded(rows/8, end); err != nil {
		return fmt.Errorf("footer: it says %d records: %w", rows, err)
	}
	return nil
}
