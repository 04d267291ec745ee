package parquet

import (
	"encoding/binary"
	"errors"
)

// Kinds of values in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDepth bounds structs and lists in one another.
const thriftDepth = 32

// errShort is the error of Thrift's bytes that end early, errThrift of others that are wrong.
var (
	errShort  = errors.New("its bytes end early")
	errThrift = errors.New("its bytes are no Thrift")
)

// compact reads values of Thrift's compact protocol, of which footers and headers of pages are made. After an error all
// values are 0. Lists take no memory before their elements are there.
type compact struct {
	data  []byte
	at    int
	depth int
	err   error
}

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.at = len(c.data)
}

// bytes returns the next n bytes.
func (c *compact) bytes(n uint64) []byte {
	if n > uint64(len(c.data)-c.at) {
		c.fail(errShort)
		return nil
	}
	from := c.at
	c.at += int(n)
	return c.data[from:c.at:c.at]
}

func (c *compact) byte() byte {
	if c.at == len(c.data) {
		c.fail(errShort)
		return 0
	}
	c.at++
	return c.data[c.at-1]
}

func (c *compact) uvarint() uint64 {
	v, n := binary.Uvarint(c.data[c.at:])
	switch {
	case n == 0:
		c.fail(errShort)
		return 0
	case n < 0:
		c.fail(errThrift)
		return 0
	}
	c.at += n
	return v
}

// int reads an integer of 16, 32 or 64 bits.
func (c *compact) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (c *compact) text() string { return string(c.bytes(c.uvarint())) }

// fields calls visit with each field of a struct. visit reads the value, or returns false and has it skipped. A boolean
// has its value in the kind.
func (c *compact) fields(visit func(id int64, kind byte) bool) {
	c.enter()
	for id := int64(0); c.err == nil; {
		head := c.byte()
		if head == 0 {
			break
		}
		kind, step := head&15, int64(head>>4)
		if step == 0 {
			id = c.int()
		}
		id += step
		if !visit(id, kind) {
			c.skip(kind)
		}
	}
	c.depth--
}

// numbers reads a struct, of which some fields are integers.
func (c *compact) numbers(to map[int64]*int64) {
	c.fields(func(id int64, kind byte) bool { return c.number(to[id], kind) })
}

// number reads an integer into to. It returns false if to is nil, or the value is none.
func (c *compact) number(to *int64, kind byte) bool {
	if to == nil || kind < 4 || kind > 6 {
		return false
	}
	*to = c.int()
	return true
}

// list calls visit for each element of a list.
func (c *compact) list(visit func(kind byte)) {
	c.enter()
	head := c.byte()
	kind, n := head&15, uint64(head>>4)
	if n == 15 {
		n = c.uvarint()
	}
	for ; n > 0 && c.err == nil; n-- {
		visit(kind)
	}
	c.depth--
}

// structs calls read for each element of a list of structs, and fails if one takes less than so many bytes.
func (c *compact) structs(least int, read func()) {
	c.list(func(byte) {
		from := c.at
		read()
		if c.at-from < least {
			c.fail(errThrift)
		}
	})
}

func (c *compact) enter() {
	if c.depth++; c.depth > thriftDepth {
		c.fail(errThrift)
	}
}

// skip passes over a value.
func (c *compact) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		c.byte()
	case thriftDouble:
		c.bytes(8)
	case thriftBinary:
		c.bytes(c.uvarint())
	case thriftList, thriftSet:
		c.list(c.skipElement)
	case thriftMap:
		c.skipMap()
	case thriftStruct:
		c.fields(func(int64, byte) bool { return false })
	case 4, 5, 6:
		c.uvarint()
	default:
		c.fail(errThrift)
	}
}

// skipElement passes over an element of a list, where a boolean takes a byte.
func (c *compact) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	c.skip(kind)
}

func (c *compact) skipMap() {
	c.enter()
	n := c.uvarint()
	if n > 0 {
		kinds := c.byte()
		for ; n > 0 && c.err == nil; n-- {
			c.skipElement(kinds >> 4)
			c.skipElement(kinds & 15)
		}
	}
	c.depth--
}
