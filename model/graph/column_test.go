package graph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestDifference verifies that each property on which the meaning of an id or a number depends is told,
// with both values, and that nothing is told of equal columns, whose lists may be nil or empty, or of
// numbers that are equal as float32.
func TestDifference(t *testing.T) {
	bag := func(kind BagKind, change func(*BagColumn)) *BagColumn {
		b := &BagColumn{Name: "c", Kind: kind, First: 7, Size: 20}
		switch kind {
		case Buckets:
			b.Boundaries, b.Size = []float64{0.1, 2}, 3
		case Vocabulary:
			b.Vocabulary, b.Size = []string{"a", "b"}, 3
		case Cross:
			b.Of = []string{"d", "e"}
		case IDs:
			b.Values = "v"
		}
		change(b)
		return b
	}
	for _, tt := range []struct {
		kind   BagKind
		change func(*BagColumn)
		want   string
	}{
		{Hash, func(b *BagColumn) { b.Of, b.Vocabulary, b.Boundaries = []string{}, []string{}, []float64{} }, ""},
		{Hash, func(b *BagColumn) { b.Name = "x" }, "name is x, was c"},
		{Hash, func(b *BagColumn) { b.Kind = Vocabulary }, "kind is vocabulary, was hash"},
		{Hash, func(b *BagColumn) { b.Size = 400 }, "hash is 400, was 20"},
		{Hash, func(b *BagColumn) { b.First = 8 }, "first id is 8, was 7"},
		{Cross, func(b *BagColumn) { b.Of = []string{"e", "d"} }, `of is ["e" "d"], was ["d" "e"]`},
		{Cross, func(b *BagColumn) { b.Size = 400 }, "hash is 400, was 20"},
		{Buckets, func(b *BagColumn) { b.Boundaries = []float64{float64(float32(0.1)), 2} }, ""},
		{Buckets, func(b *BagColumn) { b.Boundaries = []float64{0.1, 3} }, "buckets is [0.1 3], was [0.1 2]"},
		{Buckets, func(b *BagColumn) { b.Default = 1 }, "default is 1, was 0"},
		{Buckets, func(b *BagColumn) { b.HasDefault = true }, "a default is true, was false"},
		{Vocabulary, func(b *BagColumn) { b.Vocabulary = []string{"a", "z"} }, `text 1 of the vocabulary is "z", was "b"`},
		{Vocabulary, func(b *BagColumn) { b.Vocabulary = []string{"a"} }, "number of texts is 1, was 2"},
		{Vocabulary, func(b *BagColumn) { b.Strict = true }, "strict is true, was false"},
		{IDs, func(b *BagColumn) { b.Values = "w" }, "values is w, was v"},
		{IDs, func(b *BagColumn) { b.Size = 21 }, "size is 21, was 20"},
	} {
		if got := bag(tt.kind, tt.change).Difference(bag(tt.kind, func(*BagColumn) {})); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.kind, got, tt.want)
		}
	}
	was := DenseColumn{Name: "n", Mean: 1, Scale: 2, Min: -3, Max: 4}
	for want, now := range map[string]DenseColumn{
		"": was, "name is m": {Name: "m", Mean: 1, Scale: 2, Min: -3, Max: 4}, "mean is 5, was 1": {Name: "n", Mean: 5, Scale: 2, Min: -3, Max: 4},
		"log1p is true": {Name: "n", Log1p: true, Mean: 1, Scale: 2, Min: -3, Max: 4}, "largest is 9": {Name: "n", Mean: 1, Scale: 2, Min: -3, Max: 9},
	} {
		if got := now.Difference(&was); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%+v: %q, want %q", now, got, want)
		}
	}
}

// TestKeysJSON verifies that one key is a text in JSON, as models of older versions have it, and several are a list.
func TestKeysJSON(t *testing.T) {
	for want, c := range map[string]Columns{`{}`: {}, `{"key":"a"}`: {Keys: Keys{"a"}}, `{"key":["a","b"]}`: {Keys: Keys{"a", "b"}}} {
		text, err := json.Marshal(c)
		var again Columns
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || string(text) != want || !slices.Equal(again.Keys, c.Keys) {
			t.Errorf("JSON %s, and again %v, error %v, want %s", text, again.Keys, err, want)
		}
	}
}
