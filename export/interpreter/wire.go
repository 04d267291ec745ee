package interpreter

import (
	"encoding/binary"
	"math"
)

// This file reads tf.Examples as TensorFlow's fast parser does, without an allocation. That parser
// is stricter and laxer than protobuf: a tag is one literal byte, except for the two of a map
// entry; the length of a message is cut at the end of its parent; whatever follows a packed run in
// its list, or a list in its Feature, is ignored.

// The bytes of tags, field<<3 | wire type.
const (
	tagVarint  = 1<<3 | 0
	tagFixed32 = 1<<3 | 5
	tagFirst   = 1<<3 | 2 // Example.features, Features.feature, key, bytes_list, a packed run, a text
	tagSecond  = 2<<3 | 2 // value, float_list
	tagThird   = 3<<3 | 2 // int64_list
)

// varint cuts a varint of at most ten bytes off b.
func varint(b []byte) (v uint64, rest []byte, ok bool) {
	for i, c := range b {
		if i == binary.MaxVarintLen64 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// length cuts the length of a message off b. TensorFlow keeps its low 32 bits.
func length(b []byte) (n int, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		return int(b[0]), b[1:], true
	}
	v, rest, ok := varint(b)
	return int(uint32(v)), rest, ok
}

// message cuts a message off b, which begins with its length.
func message(b []byte) (body, rest []byte, ok bool) {
	n, b, ok := length(b)
	n = min(n, len(b))
	return b[:n], b[n:], ok
}

// bytesField cuts bytes off b, which begins with their number. All of them must be there.
func bytesField(b []byte) (body, rest []byte, ok bool) {
	n, b, ok := length(b)
	if !ok || n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// skip cuts a field of any number off b. There are no groups. A message may be cut short.
func skip(b []byte) (rest []byte, ok bool) {
	tag, b, ok := varint(b)
	if !ok {
		return nil, false
	}
	switch tag & 7 {
	case 0:
		_, b, ok = varint(b)
		return b, ok
	case 1:
		return b[min(8, len(b)):], len(b) >= 8
	case 5:
		return b[min(4, len(b)):], len(b) >= 4
	case 2:
		n, b, ok := length(b)
		if n > math.MaxInt32 { // is negative in TensorFlow: nothing is skipped
			n = 0
		}
		return b[min(n, len(b)):], ok
	}
	return nil, false
}

// mapEntry returns the key and the value of an entry of a map: two fields in any order, of which the last counts.
func mapEntry(b []byte) (key, value []byte, ok bool) {
	for range 2 {
		tag, rest, ok := length(b)
		if !ok || tag != tagFirst && tag != tagSecond {
			return nil, nil, false
		}
		var body []byte
		if body, b, ok = bytesField(rest); !ok {
			return nil, nil, false
		}
		if tag == tagFirst {
			key = body
		} else {
			value = body
		}
	}
	return key, value, len(b) == 0
}

// The functions below read the list in a Feature, whose first byte is the tag of the list. They set
// as many values of dst as there are, and return how many the list has, -1 if it is malformed.

func readTexts(dst [][]byte, feature []byte) int {
	list, _, ok := message(feature[1:])
	n := 0
	for ok && len(list) > 0 {
		if list[0] != tagFirst {
			return -1
		}
		var text []byte
		text, list, ok = bytesField(list[1:])
		if n < len(dst) {
			dst[n] = text
		}
		n++
	}
	if !ok {
		return -1
	}
	return n
}

func readFloats(dst []float32, feature []byte) int {
	list, _, ok := message(feature[1:])
	switch {
	case !ok:
		return -1
	case len(list) == 0:
		return 0
	case list[0] == tagFixed32:
		return readLooseFloats(dst, list)
	case list[0] != tagFirst:
		return -1
	}
	size, run, ok := length(list[1:])
	n := size / 4
	if !ok || 4*n > len(run) {
		return -1
	}
	for i := range min(n, len(dst)) {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(run[4*i:]))
	}
	return n
}

// readLooseFloats reads a list that has a tag before each number.
func readLooseFloats(dst []float32, list []byte) int {
	n := len(list) / 5
	if len(list)%5 != 0 {
		return -1
	}
	for i := range n {
		if list[5*i] != tagFixed32 {
			return -1
		}
		if i < len(dst) {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(list[5*i+1:]))
		}
	}
	return n
}

func readIntegers(dst []int64, feature []byte) int {
	list, _, ok := message(feature[1:])
	packed := ok && len(list) > 0 && list[0] == tagFirst
	if packed {
		list, _, ok = message(list[1:])
	}
	n := 0
	for ok && len(list) > 0 {
		if !packed {
			if list[0] != tagVarint {
				return -1
			}
			list = list[1:]
		}
		var v uint64
		v, list, ok = varint(list)
		if n < len(dst) {
			dst[n] = int64(v)
		}
		n++
	}
	if !ok {
		return -1
	}
	return n
}
