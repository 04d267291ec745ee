package trained

import (
	"fmt"
	"slices"
	"testing"

	"ringtrain/model/graph"
)

// TestNameOfID verifies the names of ids of all kinds of fields.
func TestNameOfID(t *testing.T) {
	for _, tt := range []struct {
		b    graph.BagColumn
		id   int
		want string
	}{
		{graph.BagColumn{Kind: graph.Vocabulary, Vocabulary: []string{"a"}}, 0, "=a"},
		{graph.BagColumn{Kind: graph.Vocabulary, Vocabulary: []string{"a"}}, 1, " unknown"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float64{1, 2.5}}, 0, " in [-Inf, 1)"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float64{1, 2.5}}, 1, " in [1, 2.5)"},
		{graph.BagColumn{Kind: graph.Buckets, Boundaries: []float64{1, 2.5}}, 2, " in [2.5, Inf)"},
		{graph.BagColumn{Kind: graph.Hash, Size: 9}, 7, "#7"},
	} {
		if got := nameOfID(&tt.b, tt.id); got != tt.want {
			t.Errorf("%s %d is %q, want %q", tt.b.Kind, tt.id, got, tt.want)
		}
	}
}

// TestFrequent verifies that the texts that come often stay, with as many texts in memory as are allowed, however many
// come.
func TestFrequent(t *testing.T) {
	f := frequent{}
	for i := range 20 * mostCounted {
		f.add(fmt.Sprint(i))
		if i%3 == 0 {
			f.add("often")
		}
		if i%5 == 0 {
			f.add("some" + graph.CrossSeparator + "times")
		}
		if len(f) > mostCounted {
			t.Fatalf("%d texts, want at most %d", len(f), mostCounted)
		}
	}
	if got := f.first(2); !slices.Equal(got, []string{"often", "some × times"}) {
		t.Errorf("the most frequent are %q", got)
	}
}
