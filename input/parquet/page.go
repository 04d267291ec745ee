package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"ringtrain/input"
)

// Kinds of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2 // as the one below, of older writers
	encodingRuns            = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingStreams         = 9 // first bytes of all values, then second ones
)

// header is the header of a page.
type header struct {
	kind, inflated, bytes              int64
	values, encoding                   int64
	definitionEncoding, repeatEncoding int64
	definitionBytes, repeatBytes       int64 // of pageDataV2
	crc                                int64
	hasCRC, plain                      bool // plain: values of pageDataV2 are not compressed
	length                             int  // of the header itself
}

func readHeader(data []byte) (h header, err error) {
	c := &compact{data: data}
	h.definitionEncoding, h.repeatEncoding = encodingRuns, encodingRuns
	own := map[int64]*int64{1: &h.kind, 2: &h.inflated, 3: &h.bytes, 4: &h.crc}
	of := map[int64]map[int64]*int64{
		5: {1: &h.values, 2: &h.encoding, 3: &h.definitionEncoding, 4: &h.repeatEncoding},
		7: {1: &h.values, 2: &h.encoding},
		8: {1: &h.values, 4: &h.encoding, 5: &h.definitionBytes, 6: &h.repeatBytes},
	}
	c.fields(func(id int64, kind byte) bool {
		h.hasCRC = h.hasCRC || id == 4
		if kind != thriftStruct || of[id] == nil {
			return c.number(own[id], kind)
		}
		c.fields(func(field int64, kind byte) bool {
			h.plain = h.plain || id == 8 && field == 7 && kind == thriftFalse
			return c.number(of[id][field], kind)
		})
		return true
	})
	h.length = c.at
	return h, c.err
}

// pages reads the pages of a chunk one after the other.
type pages struct {
	file   io.ReaderAt
	limits input.Limits
	column *Column
	codec  *codec
	at     int64 // offset of the next page
	end    int64
	head   []byte
	packed []byte // of the page
	page   []byte // its content
}

const (
	headBytes    = 1 << 10
	maxHeadBytes = 1 << 24 // statistics of long texts
)

// next reads the next page into p.page. It returns io.EOF behind the last one.
func (p *pages) next() (header, error) {
	if p.at >= p.end {
		return header{}, io.EOF
	}
	h, err := p.header()
	if err != nil {
		return h, err
	}
	rest := p.end - p.at - int64(h.length)
	if h.bytes < 0 || h.bytes > rest || h.values < 0 || h.values > 1<<31-1 || h.inflated < 0 {
		return h, fmt.Errorf("says that it has %d values in %d bytes, and %d are there", h.values, h.bytes, rest)
	}
	if err := p.limits.Decoded(h.inflated, h.bytes); err != nil {
		return h, err
	}
	p.packed = grown(p.packed, int(h.bytes))
	if err := readAt(p.file, p.packed, p.at+int64(h.length)); err != nil {
		return h, err
	}
	if h.hasCRC && crc32.ChecksumIEEE(p.packed) != uint32(h.crc) {
		return h, errors.New("has another checksum")
	}
	p.at += int64(h.length) + h.bytes
	return h, p.inflate(&h)
}

// header reads the header of the next page.
func (p *pages) header() (h header, err error) {
	for n := int64(headBytes); ; n *= 16 {
		n = min(n, p.end-p.at)
		p.head = grown(p.head, int(n))
		if err := readAt(p.file, p.head, p.at); err != nil {
			return h, err
		}
		if h, err = readHeader(p.head); !errors.Is(err, errShort) || n == p.end-p.at || n >= maxHeadBytes {
			return h, err
		}
	}
}

// inflate makes the content of a page. Levels of pageDataV2 are not compressed.
func (p *pages) inflate(h *header) error {
	levels := int64(0)
	if h.kind == pageDataV2 {
		if levels = h.definitionBytes + h.repeatBytes; h.definitionBytes < 0 || h.repeatBytes < 0 || levels < 0 || levels > min(h.bytes, h.inflated) {
			return fmt.Errorf("says that its levels have %d and %d bytes of %d", h.repeatBytes, h.definitionBytes, h.bytes)
		}
	}
	if p.codec.inflate == nil || h.kind == pageDataV2 && h.plain {
		p.page, p.packed = p.packed, p.page
		return nil
	}
	p.page = grown(p.page, int(h.inflated))
	copy(p.page, p.packed[:levels])
	if h.inflated == levels {
		return nil // as some writers have it, no values are not compressed
	}
	return p.codec.inflate(p.page[levels:], p.packed[levels:])
}

// pad is how many bytes may be read behind a page.
const pad = 64

// grown returns a slice of so many bytes, with pad bytes behind it.
func grown(p []byte, n int) []byte {
	if cap(p) < n+pad {
		p = make([]byte, n+n/8+pad)
	}
	return p[:n]
}

// cut takes the levels off a page of data: those of repetitions and those of definitions, empty where there are none, and
// the values behind them.
func (p *pages) cut(h *header) (repeats, definitions, values []byte, err error) {
	values = p.page
	if h.kind == pageDataV2 {
		return values[:h.repeatBytes], values[h.repeatBytes : h.repeatBytes+h.definitionBytes], values[h.repeatBytes+h.definitionBytes:], nil
	}
	take := func(encoding int64) []byte {
		if encoding != encodingRuns {
			err = fmt.Errorf("has levels of encoding %d, want RLE", encoding)
		}
		if err != nil {
			return nil
		}
		if len(values) < 4 || int64(binary.LittleEndian.Uint32(values)) > int64(len(values)-4) {
			err = errors.New("its levels end early")
			return nil
		}
		n := 4 + int64(binary.LittleEndian.Uint32(values))
		levels := values[4:n]
		values = values[n:]
		return levels
	}
	if p.column.List {
		repeats = take(h.repeatEncoding)
	}
	if p.column.definition > 0 {
		definitions = take(h.definitionEncoding)
	}
	return repeats, definitions, values, err
}

// levelBits is how many bits a level takes whose largest value is most.
func levelBits(most int) uint { return uint(bits.Len(uint(most))) }

// plain returns values in the form of PLAIN: one behind the other, and texts of different lengths behind their length of
// 4 bytes.
func (p *pages) plain(values []byte, encoding int64, n int) ([]byte, error) {
	e := &p.column.element
	if encoding == encodingDelta || encoding == encodingDeltaLength || encoding == encodingDeltaBytes {
		if err := p.limits.Decoded(8*int64(n), int64(len(values))); err != nil {
			return nil, err
		}
	}
	switch {
	case encoding == encodingPlain:
		return values, nil
	case encoding == encodingDelta && (e.physical == typeInt32 || e.physical == typeInt64):
		return numbersPlain(values, e.width(), n)
	case encoding == encodingDeltaLength && e.physical == typeBytes:
		return lengthsPlain(values, n)
	case encoding == encodingDeltaBytes && (e.physical == typeBytes || e.physical == typeFixed):
		return prefixesPlain(values, n, e.physical == typeBytes, p.limits)
	case encoding == encodingStreams && e.width() > 1:
		return joinStreams(values, e.width()), nil
	}
	return nil, fmt.Errorf("has values of encoding %d, which type %d does not have", encoding, e.physical)
}

// joinStreams puts the bytes of each value together.
func joinStreams(values []byte, width int) []byte {
	n := len(values) / width
	joined := make([]byte, n*width, n*width+pad)
	for k := range width {
		for i, b := range values[k*n : (k+1)*n] {
			joined[i*width+k] = b
		}
	}
	return joined
}
