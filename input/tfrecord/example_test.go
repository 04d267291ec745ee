package tfrecord_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// message returns a length-delimited field num of joined fields.
func message(num protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), slices.Concat(fields...))
}

// example returns an Example of map entries.
func example(entries ...[]byte) []byte { return message(1, entries...) }

// entry returns a map entry.
func entry(name string, feature ...[]byte) []byte {
	return message(1, message(1, []byte(name)), message(2, feature...))
}

func varints(values ...int64) (b []byte) {
	for _, v := range values {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return b
}

func fixed(values ...float32) (b []byte) {
	for _, v := range values {
		b = protowire.AppendFixed32(b, math.Float32bits(v))
	}
	return b
}

// ints and floats return packed features, looseInts and looseFloats unpacked ones.
func ints(values ...int64) []byte     { return message(3, message(1, varints(values...))) }
func floats(values ...float32) []byte { return message(2, message(1, fixed(values...))) }

func looseInts(values ...int64) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(v))
	}
	return message(3, b)
}

func looseFloats(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendFixed32(protowire.AppendTag(b, 1, protowire.Fixed32Type), math.Float32bits(v))
	}
	return message(2, b)
}

var (
	nothing = message(3)[:0]
	unknown = protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 5)
)

// TestExamples verifies that every valid encoding is read as TensorFlow reads it. Each
// of these is label 1 with the pairs (3, 0.5), (300, 2).
func TestExamples(t *testing.T) {
	label, ids, values := entry("label", ints(1)), entry("ids", ints(3, 300)), entry("values", floats(0.5, 2))
	tests := map[string][]byte{
		"packed":             example(label, ids, values),
		"other order":        example(values, label, ids),
		"unpacked":           example(entry("label", looseInts(1)), entry("ids", looseInts(3, 300)), entry("values", looseFloats(0.5, 2))),
		"packed in two runs": example(label, entry("ids", message(3, message(1, varints(3)), message(1, varints(300)))), entry("values", message(2, message(1, fixed(0.5)), message(1, fixed(2))))),
		"two lists":          example(label, entry("ids", ints(3), ints(300)), values),
		"float label":        example(entry("label", floats(1)), ids, values),
		"features twice":     append(example(label, ids), example(values)...),
		"last key wins":      example(entry("label", ints(0)), entry("ids", ints(9, 9, 9)), label, ids, values),
		"last kind wins":     example(label, entry("ids", floats(8, 8), ints(3, 300)), values),
		"value before key":   example(label, message(1, message(2, ints(3, 300)), message(1, []byte("ids"))), values),
		"unknown fields":     slices.Concat(unknown, example(unknown, label, message(1, unknown, message(1, []byte("ids")), message(2, unknown, ints(3, 300))), values), unknown),
		"other features":     example(entry("", ints(7)), entry("name", message(1, message(1, []byte("text")))), label, entry("labels", ints(9)), ids, values),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			d := open(t, write(t, data), tfrecord.Config{Labels: input.Labels{Binary: true}})
			b := record(t, d, 0)
			gotIDs, gotValues := b.X.Bags.Slot, b.X.Bags.Weights
			if b.Y[0] != 1 || !slices.Equal(gotIDs, []uint32{3, 300}) || !slices.Equal(gotValues, []float32{0.5, 2}) || d.Features() != 301 {
				t.Errorf("label %g, ids %v, values %v, %d features", b.Y[0], gotIDs, gotValues, d.Features())
			}
		})
	}
	t.Run("empty rows", func(t *testing.T) {
		d := open(t, write(t, example(label, entry("ids", ints()), entry("values", floats())), example(label, entry("ids"), entry("values"))),
			tfrecord.Config{Features: 5})
		var b input.Batch
		for i := range 2 {
			if err := d.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
		if b.X.Rows() != 2 || len(b.X.Bags.Slot) != 0 {
			t.Errorf("%d rows, ids %v", b.X.Rows(), b.X.Bags.Slot)
		}
	})
	t.Run("dense", func(t *testing.T) {
		d := open(t, write(t, example(entry("y", floats(-2.5)), entry("x", floats(1, 2, 3)))), tfrecord.Config{Dense: true, Label: "y", Values: "x"})
		b := record(t, d, 0)
		if b.Y[0] != -2.5 || !slices.Equal(b.X.Dense.Row(0), []float32{1, 2, 3}) || d.Features() != 3 {
			t.Errorf("label %g, row %v, %d features", b.Y[0], b.X.Dense.Row(0), d.Features())
		}
	})
}

// TestBadExamples verifies the error of each misfit, with the actual and the wanted
// value, and that the batch is unchanged afterwards.
func TestBadExamples(t *testing.T) {
	label, ids, values := entry("label", ints(1)), entry("ids", ints(3, 300)), entry("values", floats(0.5, 2))
	s := tfrecord.Config{Features: 301, Labels: input.Labels{Binary: true}}
	d := tfrecord.Config{Features: 2, Dense: true, Values: "values"}
	nan := float32(math.NaN())
	tests := []struct {
		name   string
		config tfrecord.Config
		data   []byte
		err    string
	}{
		{"nothing", s, nothing, `no feature "label": the record has none`},
		{"no label", s, example(ids, values, ids), `no feature "label": there are "ids", "values"`},
		{"empty label", s, example(entry("label"), ids, values), `no feature "label": there are "ids", "label", "values"`},
		{"no ids", s, example(label, values), `no feature "ids": there are "label", "values"`},
		{"no values", s, example(label, ids), `no feature "values": there are "ids", "label"`},
		{"no dense values", d, example(label), `no feature "values": there are "label"`},
		{"two labels", s, example(entry("label", ints(1, 0)), ids, values), `feature "label" is a list of int64 of length 2, want 1`},
		{"label without a number", s, example(entry("label", floats()), ids, values), `feature "label" is a list of floats of length 0, want 1`},
		{"bytes label", s, example(entry("label", message(1, message(1, []byte("1")))), ids, values), `feature "label" is a list of bytes, want one int64 or float`},
		{"label out of range", s, example(entry("label", ints(2)), ids, values), `label is 2, want 0 or 1 (or -1 for 0)`},
		{"float ids", s, example(label, entry("ids", floats(3, 300)), values), `feature "ids" is a list of floats, want a list of int64 (as TensorFlow does, nothing is converted)`},
		{"int64 values", s, example(label, ids, entry("values", ints(1, 2))), `feature "values" is a list of int64, want a list of floats (as TensorFlow does, nothing is converted)`},
		{"dense int64", d, example(label, entry("values", ints(1, 2))), `feature "values" is a list of int64, want a list of floats (as TensorFlow does, nothing is converted)`},
		{"more ids", s, example(label, ids, entry("values", floats(1))), `feature "ids" has 2 values and "values" 1, want as many`},
		{"large id", s, example(label, entry("ids", ints(3, 301)), values), `feature "ids": id 1 is 301, want one in [0, 301) for 301 features`},
		{"negative id", s, example(label, entry("ids", ints(-1, 3)), values), `feature "ids": id 0 is -1, want one in [0, 301) for 301 features`},
		{"NaN", s, example(label, ids, entry("values", floats(1, nan))), `feature "values": value 1 is NaN, want a finite number`},
		{"dense NaN", d, example(label, entry("values", floats(nan, 1))), `feature "values": value 0 is NaN, want a finite number`},
		{"dense length", d, example(label, entry("values", floats(1, 2, 3))), `feature "values" has 3 values, want 2`},
		{"cut off", s, example(label, ids, values)[:50], `not a tf.Example: unexpected EOF`},
		{"packed floats of 3 bytes", s, example(label, ids, entry("values", message(2, message(1, []byte{1, 2, 3})))), `feature "values": list of floats has a length that is not a multiple of 4`},
		{"packed varint cut off", s, example(label, entry("ids", message(3, message(1, []byte{0x80}))), values), `feature "ids": unexpected EOF`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := example(label, ids, values)
			name := write(t, good, tt.data)
			set := open(t, name, tt.config)
			b := record(t, set, 0)
			err := set.Append(&b, 1)
			want := "tfrecord: " + name + ": record 1 at byte "
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ": "+tt.err) || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %v (%d), want %s…: %s", err, exitcode.Of(err), want, tt.err)
			}
			if b.X.Rows() != 1 || len(b.Y) != 1 || len(b.X.Bags.Slot) != len(b.X.Bags.Weights) || len(b.X.Bags.Slot) > 2 {
				t.Errorf("the batch has changed: %+v", b)
			}
		})
	}
}
