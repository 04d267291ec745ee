package interpreter

import (
	"encoding/binary"
	"math"
)

// This file reads tf.Examples as TensorFlow's fast parser does. That parser is stricter and laxer than
// protobuf: a tag is one literal byte, except for the two of a map entry; a message that is cut short
// is what there is of it; whatever follows a packed run in its list, or a list in its Feature, is ignored.

// The bytes of tags, field<<3 | wire type.
const (
	tagVarint  = 1 << 3
	tagFixed32 = 1<<3 | 5
	tagFirst   = 1<<3 | 2 // Example.features, Features.feature, key, bytes_list, a packed run, a text
	tagSecond  = 2<<3 | 2 // value, float_list
	tagThird   = 3<<3 | 2 // int64_list

	tagMalformed = 0xff // of a list without a length
)

// varint cuts a varint of at most ten bytes off b.
func varint(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], true
	}
	for i, c := range b[:min(len(b), binary.MaxVarintLen64)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// delimited cuts the bytes of a field off b, which begins with their number, of which the low 32 bits count.
// It reports whether there are as many, or any number of them is enough.
func delimited(b []byte, any bool) (body, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 && int(b[0]) < len(b) {
		n := 1 + int(b[0])
		return b[1:n], b[n:], true
	}
	v, b, ok := varint(b)
	n := int(uint32(v))
	if n > len(b) {
		n, ok = len(b), ok && any
	}
	return b[:n], b[n:], ok
}

// skip cuts a field of any number off b. A group is refused. A length that TensorFlow takes for negative skips nothing.
func skip(b []byte) (rest []byte, ok bool) {
	tag, b, ok := varint(b)
	size := [8]int{1: 8, 5: 4}[tag&7]
	switch {
	case !ok || len(b) < size:
		return nil, false
	case size > 0:
		return b[size:], true
	case tag&7 == 0 || tag&7 == 2:
		v, b, ok := varint(b)
		if tag&7 == 0 {
			v = 0
		}
		return b[min(len(b), max(0, int(int32(v)))):], ok
	}
	return nil, false
}

// mapEntry returns the key and the value of an entry of a map: two fields in any order, of which the last counts.
func mapEntry(b []byte) (key, value []byte, ok bool) {
	for range 2 {
		var body []byte
		tag, rest, _ := varint(b)
		body, b, ok = delimited(rest, false)
		switch {
		case !ok:
			return nil, nil, false
		case uint32(tag) == tagFirst:
			key = body
		case uint32(tag) == tagSecond:
			value = body
		default:
			return nil, nil, false
		}
	}
	return key, value, len(b) == 0
}

// The functions below append the values of a list. They report whether it is whole.

func readTexts(dst [][]byte, list []byte) ([][]byte, bool) {
	for len(list) > 0 {
		text, rest, ok := delimited(list[1:], false)
		if list[0] != tagFirst || !ok {
			return dst, false
		}
		dst, list = append(dst, text), rest
	}
	return dst, true
}

func readFloats(dst []float32, list []byte) ([]float32, bool) {
	if len(list) > 0 && list[0] == tagFirst {
		v, run, ok := varint(list[1:])
		n := int(uint32(v) / 4)
		if !ok || 4*n > len(run) {
			return dst, false
		}
		for i := range n {
			dst = append(dst, float(run[4*i:]))
		}
		return dst, true
	}
	for ; len(list) >= 5 && list[0] == tagFixed32; list = list[5:] {
		dst = append(dst, float(list[1:]))
	}
	return dst, len(list) == 0
}

// float returns the number in the first bytes of b.
func float(b []byte) float32 { return normal(math.Float32frombits(binary.LittleEndian.Uint32(b))) }

// normal returns x, or 0 for one that is denormal: TensorFlow computes with 0 then.
func normal(x float32) float32 {
	if -0x1p-126 < x && x < 0x1p-126 {
		return 0
	}
	return x
}

func readIntegers(dst []int64, list []byte) ([]int64, bool) {
	packed, ok := len(list) > 0 && list[0] == tagFirst, true
	if packed {
		list, _, ok = delimited(list[1:], true)
	}
	for ok && len(list) > 0 {
		if !packed {
			ok, list = list[0] == tagVarint, list[1:]
		}
		v, rest, whole := varint(list)
		dst, list, ok = append(dst, int64(v)), rest, ok && whole
	}
	return dst, ok
}
