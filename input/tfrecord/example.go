package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// listKind is the kind of a feature: the number of its field.
type listKind protowire.Number

const (
	kindNone  listKind = 0
	kindBytes listKind = 1
	kindFloat listKind = 2
	kindInt64 listKind = 3
)

func (k listKind) String() string {
	return [...]string{"empty", "a list of bytes", "a list of floats", "a list of int64"}[k]
}

// field is one field of a message. val is the content of a length-delimited field, or
// the encoded value of another field.
type field struct {
	num protowire.Number
	typ protowire.Type
	val []byte
}

// is reports whether f is the length-delimited field num.
func (f field) is(num protowire.Number) bool { return f.num == num && f.typ == protowire.BytesType }

// next splits the first field from message b.
func next(b []byte) (f field, rest []byte, err error) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	b = b[n:]
	if typ == protowire.BytesType {
		val, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return f, nil, protowire.ParseError(n)
		}
		return field{num, typ, val}, b[n:], nil
	}
	n = protowire.ConsumeFieldValue(num, typ, b)
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	return field{num, typ, b[:n]}, b[n:], nil
}

// eachEntry calls visit with the name and the Feature of every entry of an Example, in
// encoded order.
func eachEntry(example []byte, visit func(name, feature []byte)) error {
	for len(example) > 0 {
		f, rest, err := next(example)
		if err != nil {
			return fmt.Errorf("not a tf.Example: %w", err)
		}
		example = rest
		for features := f.val; f.is(1) && len(features) > 0; {
			var entry field
			if entry, features, err = next(features); err != nil {
				return fmt.Errorf("not a tf.Example: features: %w", err)
			}
			if !entry.is(1) {
				continue
			}
			name, feature, err := splitEntry(entry.val)
			if err != nil {
				return fmt.Errorf("not a tf.Example: map entry: %w", err)
			}
			visit(name, feature)
		}
	}
	return nil
}

// splitEntry returns the two fields of a map entry, in any order.
func splitEntry(entry []byte) (name, feature []byte, err error) {
	feature = entry[:0] // an absent value is an empty Feature
	for len(entry) > 0 {
		f, rest, err := next(entry)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case f.is(1):
			name = f.val
		case f.is(2):
			feature = f.val
		}
		entry = rest
	}
	return name, feature, nil
}

// appendList appends the numbers of a Feature to ints or floats, by its kind, which it
// returns.
func appendList(ints []int64, floats []float32, feature []byte) ([]int64, []float32, listKind, error) {
	kind, i, f := kindNone, len(ints), len(floats)
	for len(feature) > 0 {
		list, rest, err := next(feature)
		if err != nil {
			return ints, floats, kind, err
		}
		feature = rest
		if list.typ != protowire.BytesType || list.num > protowire.Number(kindInt64) {
			continue // an unknown field
		}
		if k := listKind(list.num); k != kind { // the last field of a oneof counts
			kind, ints, floats = k, ints[:i], floats[:f]
		}
		switch kind {
		case kindInt64:
			ints, err = appendInts(ints, list.val)
		case kindFloat:
			floats, err = appendFloats(floats, list.val)
		}
		if err != nil {
			return ints, floats, kind, err
		}
	}
	return ints, floats, kind, nil
}

var errPacked = errors.New("list of floats has a length that is not a multiple of 4")

// appendFloats appends the elements of a FloatList, packed or not.
func appendFloats(dst []float32, list []byte) ([]float32, error) {
	for len(list) > 0 {
		f, rest, err := next(list)
		if err != nil {
			return dst, err
		}
		list = rest
		if f.num != 1 || f.typ != protowire.BytesType && f.typ != protowire.Fixed32Type {
			continue
		}
		if len(f.val)%4 != 0 {
			return dst, errPacked
		}
		for v := f.val; len(v) > 0; v = v[4:] {
			dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(v)))
		}
	}
	return dst, nil
}

// appendInts appends the elements of an Int64List, packed or not.
func appendInts(dst []int64, list []byte) ([]int64, error) {
	for len(list) > 0 {
		f, rest, err := next(list)
		if err != nil {
			return dst, err
		}
		list = rest
		if f.num != 1 || f.typ != protowire.BytesType && f.typ != protowire.VarintType {
			continue
		}
		for v := f.val; len(v) > 0; {
			x, n := protowire.ConsumeVarint(v)
			if n < 0 {
				return dst, protowire.ParseError(n)
			}
			dst, v = append(dst, int64(x)), v[n:]
		}
	}
	return dst, nil
}

// missing returns an error that a feature is missing, with the names of the existing
// ones.
func missing(example []byte, want string) error {
	const shown, most = 20, 1000 // a name takes 2 bytes of a record, and 40 here
	var names []string
	eachEntry(example, func(name, _ []byte) {
		if len(names) < most {
			names = append(names, fmt.Sprintf("%.100q", name))
		}
	})
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > shown {
		names = append(names[:shown], "and more")
	}
	if len(names) == 0 {
		return fmt.Errorf("no feature %q: the record has none", want)
	}
	return fmt.Errorf("no feature %q: there are %s", want, strings.Join(names, ", "))
}
