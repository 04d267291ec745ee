package column

import (
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestLabelIsNoFeature verifies that each kind of item that reads the label is a usage error that names
// the item and the column, all at once, and that the label may be the key.
func TestLabelIsNoFeature(t *testing.T) {
	label := Column{Label: &LabelOptions{Names: []string{"y2"}}}
	a := Column{Categorical: &CategoricalOptions{Names: []string{"a"}, Hash: 5}}
	kinds := []struct {
		name string
		item Column
	}{
		{"weight", Column{Weight: &WeightOptions{Names: []string{"y2"}}}},
		{"numeric", Column{Numeric: &NumericOptions{Names: []string{"y1..y3"}}}},
		{"numeric", Column{Numeric: &NumericOptions{Names: []string{"b", "y2"}, Buckets: []float64{1}}}},
		{"categorical", Column{Categorical: &CategoricalOptions{Names: []string{"y2"}, Hash: 5}}},
		{"categorical", Column{Categorical: &CategoricalOptions{Names: []string{"y2"}, Vocabulary: "auto"}}},
		{"ids", Column{IDs: &IDsOptions{Names: []string{"y2"}, Size: 5}}},
		{"ids", Column{IDs: &IDsOptions{Names: []string{"i"}, Values: "y2", Size: 5}}},
		{"cross", Column{Cross: &CrossOptions{Of: []string{"a", "y2"}, Hash: 5}}},
	}
	for _, k := range kinds {
		for _, columns := range [][]Column{{label, a, k.item}, {a, k.item, label}} {
			_, err := Compile(columns, nil)
			if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), k.name+" reads y2, which is the label") {
				t.Errorf("kind=%s: error %v", k.name, err)
			}
		}
	}
	_, err := Compile([]Column{label, kinds[0].item, kinds[1].item, kinds[3].item}, nil)
	if err == nil || strings.Count(err.Error(), "which is the label") != 3 {
		t.Errorf("error %v, want the faults of three items", err)
	}
	p, err := Compile([]Column{label, a, {Key: &KeyOptions{Names: []string{"y2"}}}}, nil)
	if err != nil || !slices.Equal(p.Keys, []int{p.Label}) {
		t.Errorf("the label as key: %v", err)
	}
}

// TestPredicts verifies that a prediction reads each column but the label and a weight that is neither
// feature nor key.
func TestPredicts(t *testing.T) {
	p, err := Compile([]Column{
		{Label: &LabelOptions{Names: []string{"y"}}}, {Weight: &WeightOptions{Names: []string{"w"}}},
		{Key: &KeyOptions{Names: []string{"k"}}}, {Numeric: &NumericOptions{Names: []string{"n"}}},
		{Numeric: &NumericOptions{Names: []string{"b"}, Buckets: []float64{1}}}, {IDs: &IDsOptions{Names: []string{"i"}, Values: "v", Size: 5}},
		{Categorical: &CategoricalOptions{Names: []string{"c", "d"}, Hash: 5}}, {Cross: &CrossOptions{Of: []string{"c", "d"}, Hash: 5}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range p.Inputs {
		if got, want := p.Predicts(i), name != "y" && name != "w"; got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
	for _, w := range []Column{{Numeric: &NumericOptions{Names: []string{"w"}}}, {Key: &KeyOptions{Names: []string{"w"}}}, {IDs: &IDsOptions{Names: []string{"i"}, Values: "w", Size: 5}}} {
		p, err := Compile([]Column{{Weight: &WeightOptions{Names: []string{"w"}}}, {Numeric: &NumericOptions{Names: []string{"n"}}}, w}, nil)
		if err != nil || !p.Predicts(p.Weight) {
			t.Errorf("a weight that is %s: not read, error %v", w.kind(), err)
		}
	}
}
