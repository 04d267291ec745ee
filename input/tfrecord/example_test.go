package tfrecord_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/column"
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
	group   = protowire.AppendTag(protowire.AppendTag(nil, 1, protowire.StartGroupType), 1, protowire.EndGroupType)
)

// TestExamples verifies that every valid encoding is read, as every protocol buffer. Each
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
		"value before key":   example(label, message(1, message(2, ints(3, 300)), message(1, []byte("ids"))), values),
		"other features":     example(entry("", ints(7)), entry("name", message(1, message(1, []byte("text")))), label, entry("labels", ints(9)), ids, values),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			d := open(t, write(t, data), tfrecord.Config{Labels: input.Labels{Binary: true}})
			b := record(t, d, 0)
			gotIDs, gotValues := b.X.Bags.Slot, b.X.Bags.Weights
			if b.Y[0] != 1 || !slices.Equal(gotIDs, []uint32{3, 300}) || !slices.Equal(gotValues, []float32{0.5, 2}) || d.Facts().Features != 301 {
				t.Errorf("label %g, ids %v, values %v, %d features", b.Y[0], gotIDs, gotValues, d.Facts().Features)
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
		if b.Y[0] != -2.5 || !slices.Equal(b.X.Dense.Row(0), []float32{1, 2, 3}) || d.Facts().Features != 3 {
			t.Errorf("label %g, row %v, %d features", b.Y[0], b.X.Dense.Row(0), d.Facts().Features)
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
		{"nothing", s, nothing, `no feature "label": there are none`},
		{"no label", s, example(ids, values), `no feature "label": there are ["ids" "values"]`},
		{"empty label", s, example(entry("label"), ids, values), `no feature "label": there are ["ids" "label" "values"]`},
		{"no ids", s, example(label, values), `no feature "ids": there are ["label" "values"]`},
		{"no values", s, example(label, ids), `no feature "values": there are ["ids" "label"]`},
		{"no dense values", d, example(label), `no feature "values": there are ["label"]`},
		{"two labels", s, example(entry("label", ints(1, 0)), ids, values), `feature "label" is a list of int64 of length 2, want 1`},
		{"label without a number", s, example(entry("label", floats()), ids, values), `feature "label" is a list of floats of length 0, want 1`},
		{"bytes label", s, example(entry("label", message(1, message(1, []byte("1")))), ids, values), `feature "label" is a list of bytes, want one int64 or float, or model.classes: auto`},
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
		{"label twice", s, example(label, ids, label, values), `feature "label": twice in the record, want once`},
		{"ids twice, in two lists of features", s, append(example(label, ids), example(ids, values)...), `feature "ids": twice in the record, want once`},
		{"bytes ids", s, example(label, entry("ids", text("3")), values), `feature "ids" is a list of bytes, want a list of int64 (as TensorFlow does, nothing is converted)`},
		{"two kinds", s, example(label, entry("ids", floats(8, 8), ints(3, 300)), values), `feature "ids": a list of floats and a list of int64, want one`},
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

// TestUnknownFields verifies that a field that a message does not have is an error, wherever it stands,
// on each way that records are read: it is not passed over, as it may have what the record lacks.
func TestUnknownFields(t *testing.T) {
	label, ids, values := entry("label", ints(1)), entry("ids", ints(3, 300)), entry("values", floats(0.5, 2))
	good := [][]byte{label, ids, values, entry("features", floats(1, 2)), entry("city", text("Bern"))}
	feature := func(name string, f []byte) []byte { // a record with another feature by that name
		var all [][]byte
		for _, e := range good {
			if !bytes.Contains(e, message(1, []byte(name))) {
				all = append(all, e)
			}
		}
		return example(append(all, entry(name, f))...)
	}
	fixed32 := protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), 7)
	fixed64 := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 7)
	varint := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7)
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"sequence", append(example(good...), message(2, message(1, message(1, []byte("ids"))))...), "this is a tf.SequenceExample"},
		{"sequence without a context", message(2), "this is a tf.SequenceExample"},
		{"in the example", slices.Concat(unknown, example(good...)), "not a tf.Example: field 77 of wire type 0, which an Example does not have"},
		{"behind the features", slices.Concat(example(good...), message(3)), "not a tf.Example: field 3 of wire type 2"},
		{"a number in place of features", varint, "not a tf.Example: field 1 of wire type 0"},
		{"a group in place of features", group, "not a tf.Example: field 1 of wire type 3"},
		{"in the features", example(append([][]byte{unknown}, good...)...), "not a tf.Example: field 77 of wire type 0, which Features does not have"},
		{"a number in place of an entry", example(varint), "not a tf.Example: field 1 of wire type 0"},
		{"in an entry", example(append([][]byte{message(1, unknown, message(1, []byte("x")))}, good...)...), "map entry: field 77 of wire type 0, which an entry does not have"},
		{"a number for a name", example(append([][]byte{message(1, varint)}, good...)...), "map entry: field 1 of wire type 0"},
		{"in label", feature("label", slices.Concat(unknown, ints(1))), `feature "label": field 77 of wire type 0, which a Feature does not have`},
		{"a fourth kind", feature("label", message(4)), `feature "label": field 4 of wire type 2`},
		{"in the list of label", feature("label", message(3, unknown, varint)), `feature "label": field 77 of wire type 0, which a list of int64 does not have`},
		{"int64 of fixed64", feature("label", message(3, fixed64)), `feature "label": field 1 of wire type 1, which a list of int64 does not have`},
		{"int64 of fixed32", feature("label", message(3, fixed32)), `feature "label": field 1 of wire type 5, which a list of int64`},
		{"float of a varint", feature("label", message(2, varint)), `feature "label": field 1 of wire type 0, which a list of floats does not have`},
		{"float of fixed64", feature("label", message(2, fixed64)), `feature "label": field 1 of wire type 1, which a list of floats`},
		{"field 2 of a list", feature("label", message(3, message(2, []byte{1}))), `feature "label": field 2 of wire type 2, which a list of int64`},
	}
	plan, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}}, {Categorical: &column.CategoricalOptions{Names: []string{"city"}, Hash: 9}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name string
		open func(name string) (input.Dataset, error)
	}{
		{"ids", func(name string) (input.Dataset, error) {
			return tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Features: 301})
		}},
		{"dense", func(name string) (input.Dataset, error) {
			return tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Features: 2, Dense: true})
		}},
		{"columns", func(name string) (input.Dataset, error) {
			return tfrecord.OpenColumns(t.Context(), []string{name}, tfrecord.Config{}, tfrecord.Columns{Plan: plan})
		}},
	} {
		for _, tt := range tests {
			d, err := way.open(write(t, example(good...), tt.data))
			if err != nil {
				t.Fatal(err)
			}
			var b input.Batch
			if err := d.Append(&b, 0); err != nil {
				t.Errorf("%s: a good record: %v", way.name, err)
			}
			err = d.Append(&b, 1)
			d.Close()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "record 1 at byte ") || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("%s/%s: error %v, want %q", way.name, tt.name, err, tt.want)
			}
		}
	}
}
