package tfrecord

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encoder encodes tf.Examples. It writes features in the bytewise order of their names,
// so equal records give equal bytes. One goroutine at a time may use an Encoder.
type Encoder struct {
	Label, IDs, Values string // names; empty as in Config
	FloatLabel         bool   // false: the label is an int64, truncated towards 0

	features []byte // the message under construction
}

// AppendSparse appends an Example with label, ids and values to dst.
func (e *Encoder) AppendSparse(dst []byte, label float32, ids []uint32, values []float32) []byte {
	c := Config{Label: e.Label, IDs: e.IDs, Values: e.Values}.withNames()
	order := [3]string{c.Label, c.IDs, c.Values}
	sort3(&order)
	e.features = e.features[:0]
	for _, name := range order {
		switch name {
		case c.Label:
			e.label(name, label)
		case c.IDs:
			e.features = appendInt64Entry(e.features, name, ids)
		default:
			e.features = appendFloatEntry(e.features, name, values)
		}
	}
	return e.finish(dst)
}

// AppendDense appends an Example with label and dense features to dst.
func (e *Encoder) AppendDense(dst []byte, label float32, features []float32) []byte {
	c := Config{Label: e.Label, Values: e.Values, Dense: true}.withNames()
	e.features = e.features[:0]
	if c.Label < c.Values {
		e.label(c.Label, label)
	}
	e.features = appendFloatEntry(e.features, c.Values, features)
	if c.Label >= c.Values {
		e.label(c.Label, label)
	}
	return e.finish(dst)
}

func (e *Encoder) label(name string, y float32) {
	if e.FloatLabel {
		e.features = appendFloatEntry(e.features, name, []float32{y})
	} else {
		e.features = appendInt64Entry(e.features, name, []int64{int64(y)})
	}
}

func (e *Encoder) finish(dst []byte) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendBytes(dst, e.features)
}

// sort3 sorts three names in place.
func sort3(s *[3]string) {
	for _, p := range [...][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if s[p[1]] < s[p[0]] {
			s[p[0]], s[p[1]] = s[p[1]], s[p[0]]
		}
	}
}

func appendFloatEntry(dst []byte, name string, values []float32) []byte {
	dst = appendEntry(dst, name, kindFloat, 4*len(values))
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func appendInt64Entry[T int64 | uint32](dst []byte, name string, values []T) []byte {
	n := 0
	for _, v := range values {
		n += protowire.SizeVarint(uint64(v))
	}
	dst = appendEntry(dst, name, kindInt64, n)
	for _, v := range values {
		dst = protowire.AppendVarint(dst, uint64(v))
	}
	return dst
}

// appendEntry appends a map entry up to the elements of its packed list, which have n
// bytes. An empty list has a kind but no elements.
func appendEntry(dst []byte, name string, kind listKind, n int) []byte {
	list := 0
	if n > 0 {
		list = 1 + protowire.SizeBytes(n)
	}
	feature := 1 + protowire.SizeBytes(list)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(name))+1+protowire.SizeBytes(feature)))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, name)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(feature))
	dst = protowire.AppendTag(dst, protowire.Number(kind), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(list))
	if n == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(n))
}
