package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/ring/phrase"
)

// errTwice is the error of a feature by a name that another one has.
var errTwice = errors.New("twice in the record, want once")

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
	if len(b) > 2 && b[0]>>3-1 < 15 && protowire.Type(b[0]&7) == protowire.BytesType && int(b[1]) <= len(b)-2 && b[1] < 0x80 {
		n := 2 + int(b[1]) // most tags and lengths take one byte
		return field{protowire.Number(b[0] >> 3), protowire.BytesType, b[2:n]}, b[n:], nil
	}
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

// unknown is the error of a field that a message does not have.
func (f field) unknown(message string) error {
	return fmt.Errorf("field %d of wire type %d, which %s does not have", f.num, f.typ, message)
}

// eachEntry calls visit with the name and the Feature of every entry of an Example, in
// encoded order, until visit returns an error.
func eachEntry(example []byte, visit func(name, feature []byte) error) error {
	for len(example) > 0 {
		f, rest, err := next(example)
		switch {
		case err != nil:
			return fmt.Errorf("not a tf.Example: %w", err)
		case f.is(2):
			return errors.New("this is a tf.SequenceExample, want a tf.Example: its feature_lists are not read")
		case !f.is(1):
			return fmt.Errorf("not a tf.Example: %w", f.unknown("an Example"))
		}
		example = rest
		for features := f.val; len(features) > 0; {
			var entry field
			if entry, features, err = next(features); err != nil {
				return fmt.Errorf("not a tf.Example: features: %w", err)
			}
			if !entry.is(1) {
				return fmt.Errorf("not a tf.Example: %w", entry.unknown("Features"))
			}
			name, feature, err := splitEntry(entry.val)
			if err != nil {
				return fmt.Errorf("not a tf.Example: map entry: %w", err)
			}
			if err := visit(name, feature); err != nil {
				return err
			}
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
		default:
			return nil, nil, f.unknown("an entry")
		}
		entry = rest
	}
	return name, feature, nil
}

// appendList appends the numbers of a Feature to ints or floats, by its kind, which it
// returns. Several lists of one kind are one list, as in every protocol buffer.
func appendList(ints []int64, floats []float32, feature []byte) ([]int64, []float32, listKind, error) {
	kind := kindNone
	for len(feature) > 0 {
		list, rest, err := next(feature)
		if err != nil {
			return ints, floats, kind, err
		}
		feature = rest
		if list.typ != protowire.BytesType || list.num > protowire.Number(kindInt64) {
			return ints, floats, kind, list.unknown("a Feature")
		}
		if k := listKind(list.num); k != kind && kind != kindNone {
			return ints, floats, kind, fmt.Errorf("%v and %v, want one", kind, k)
		}
		switch kind = listKind(list.num); kind {
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

// appendTexts appends the elements of a Feature of bytes, which stay in its memory.
func appendTexts(dst [][]byte, feature []byte) (_ [][]byte, err error) {
	for len(feature) > 0 {
		var list field
		if list, feature, err = next(feature); err != nil {
			return dst, err
		}
		for val := list.val; len(val) > 0; {
			var text field
			if text, val, err = next(val); err != nil {
				return dst, err
			}
			if !text.is(1) {
				return dst, text.unknown("a list of bytes")
			}
			dst = append(dst, text.val[:len(text.val):len(text.val)])
		}
	}
	return dst, nil
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
			return dst, f.unknown("a list of floats")
		}
		if len(f.val)%4 != 0 {
			return dst, errPacked
		}
		for v := f.val; len(v) > 0; v = v[4:] {
			dst = append(dst, input.Normal(math.Float32frombits(binary.LittleEndian.Uint32(v))))
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
			return dst, f.unknown("a list of int64")
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
	names, near := appendNames(nil, example), ""
	if !slices.Contains(names, want) { // else it is empty
		near = phrase.DidYouMean(want, names)
	}
	return fmt.Errorf("no feature %q%s: there are %s", want, near, listed(names))
}

// appendNames appends the names of an example's features.
func appendNames(names []string, example []byte) []string {
	const most = 1000 // a name takes 2 bytes of a record, and 16 here
	eachEntry(example, func(name, _ []byte) error {
		if len(names) < most {
			names = append(names, string(name))
		}
		return nil
	})
	return names
}

// listed shows names of features.
func listed(names []string) string {
	const most = 20
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return "none"
	}
	text := fmt.Sprintf("%.100q", names[:min(len(names), most)])
	if len(names) > most {
		text += " and more"
	}
	return text
}
