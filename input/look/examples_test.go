package look

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/tfrecord"
)

// feature is an entry of a tf.Example: a float32, an int64, or texts.
func feature(name string, value any) []byte {
	nested := func(number protowire.Number, message []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	var list []byte
	kind := protowire.Number(1)
	switch v := value.(type) {
	case []string:
		for _, text := range v {
			list = append(list, nested(1, []byte(text))...)
		}
	case float32:
		kind, list = 2, protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), math.Float32bits(v))
	case int:
		kind, list = 3, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(v))
	}
	return nested(1, append(nested(1, []byte(name)), nested(2, nested(kind, list))...))
}

// writeExamples writes a file of n examples, each of the features that are not nil, and of what more has.
func writeExamples(t *testing.T, n int, features func(i int) map[string]any, more ...[]byte) string {
	t.Helper()
	var file bytes.Buffer
	w := tfrecord.NewWriter(&file)
	for i := range n {
		var example []byte
		for _, name := range []string{"a", "t", "y"} {
			if value := features(i)[name]; value != nil {
				example = append(example, feature(name, value)...)
			}
		}
		more = append(more, example)
	}
	for _, example := range more {
		if err := w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), example)); err != nil {
			t.Fatal(err)
		}
	}
	return write(t, "f.tfrecord", file.String())
}

// TestCheckExamplesMissing verifies that words of input.missing are missing texts and numbers of tf.Examples, and nowhere
// counted as values.
func TestCheckExamplesMissing(t *testing.T) {
	file := writeExamples(t, 100, func(i int) map[string]any {
		all := map[string]any{"a": []string{fmt.Sprint(i % 9)}, "t": []string{fmt.Sprintf("w%d", i%5)}, "y": i / 3 % 2}
		if i%10 == 0 {
			all["a"], all["t"] = []string{"none"}, []string{"none"}
		}
		return all
	})
	plan, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}}, {Numeric: &column.NumericOptions{Names: []string{"a"}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"t"}, Hash: 10}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.SetMissing([]string{"none"})
	r, err := Check(t.Context(), &convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{file}}, Columns: plan, LabelRule: input.Labels{Binary: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Columns {
		if want := []Value{{"none", 10}}; c.Name != "y" && !slices.Equal(c.Missing, want) || slices.ContainsFunc(c.Values, func(v Value) bool { return v.Text == "none" }) {
			t.Errorf("%s: missing are %v, values %v, want %v missing and no value", c.Name, c.Missing, c.Values, want)
		}
	}
}

// TestCheckExamples verifies the findings of tf.Examples: a sound file has none, and a file with one fault has this
// one, with its records and the number of the first.
func TestCheckExamples(t *testing.T) {
	sound := func(i int) map[string]any {
		return map[string]any{"a": float32(i * 7 % 50), "t": []string{fmt.Sprintf("w%d", i%5)}, "y": i / 3 % 2}
	}
	but := func(name string, value func(i int) any) func(int) map[string]any {
		return func(i int) map[string]any {
			all := sound(i)
			all[name] = value(i)
			return all
		}
	}
	for name, tt := range map[string]struct {
		features func(i int) map[string]any
		more     [][]byte // records before
		want     string   // "" for none
		records  int64
		ends     bool
	}{
		"fault=none":       {features: sound},
		"fault=list":       {features: sound, more: [][]byte{append(feature("a", []string{"1", "2"}), feature("y", 1)...)}, want: "column a: input.train: is a list of 2, want one value", records: 1, ends: true},
		"fault=text":       {features: sound, more: [][]byte{append(feature("a", []string{"many"}), feature("y", 1)...)}, want: `column a: input.train: is "many", want a number`, records: 1, ends: true},
		"fault=class":      {features: sound, more: [][]byte{feature("y", 3)}, want: "column y: input.train: label is 3, want 0 or 1 (or -1 for 0)", records: 1, ends: true},
		"fault=no label":   {features: sound, more: [][]byte{feature("a", float32(1))}, want: "column y: input.train: is missing, want a label", records: 1, ends: true},
		"fault=no example": {features: sound, more: [][]byte{{0xff}}, want: "input.train: lines that are no record: ", records: 1, ends: true},
		"fault=no feature": {features: but("t", func(int) any { return nil }), want: "column t: no record has the feature", records: 200, ends: true},
		"fault=constant":   {features: but("a", func(int) any { return float32(7) }), want: "column a: 7 in each record", records: 200},
		"fault=label":      {features: but("a", func(i int) any { return i / 3 % 2 }), want: "column a: is the label y in each record", records: 200},
		"fault=tells":      {features: but("a", func(i int) any { return float32(i%7 + 100*(i/3%2)) }), want: "column a: alone tells the label y: AUC 1.0000", records: 200},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := column.Compile([]column.Column{
				{Label: &column.LabelOptions{Names: []string{"y"}}}, {Numeric: &column.NumericOptions{Names: []string{"a"}}},
				{Categorical: &column.CategoricalOptions{Names: []string{"t"}, Hash: 10}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			spec := &convert.Spec{Origin: convert.Origin{Format: "tfrecord", Files: []string{writeExamples(t, 200, tt.features, tt.more...)}}, Columns: plan, LabelRule: input.Labels{Binary: true}}
			r, err := Check(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			f, got := oneFinding(t, r, tt.want != "")
			if f == nil {
				return
			}
			if !strings.HasPrefix(got, tt.want) || f.Records != tt.records || f.Ends != tt.ends || f.Fix == "" {
				t.Errorf("finds %s (%d, ends: %v, fix %q), want %s (%d, ends: %v)", got, f.Records, f.Ends, f.Fix, tt.want, tt.records, tt.ends)
			}
			if tt.more != nil && (len(f.Examples) != 1 || f.Examples[0].Line != 0) {
				t.Errorf("examples are %+v, want record 0", f.Examples)
			}
		})
	}
}
