package trained

import (
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
