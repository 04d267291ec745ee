package job

import (
	"slices"
	"strings"
	"testing"
)

// TestClassWeights verifies the forms of train.class_weights: in the order of the classes, by their names from a file
// and from --set, each of which a job file keeps; and what is refused, before and after the names are known.
func TestClassWeights(t *testing.T) {
	const job = "model: {kind: linear, classes: [\"no\", \"a: b\", \">50K\"]}\ninput: {train: {format: vw, files: [a]}}\noptimizer: {name: adam}\n"
	for _, tt := range []struct {
		line string
		set  string
		want []float64
	}{
		{"[1, 2.5, 0]", "", []float64{1, 2.5, 0}},
		{"{\">50K\": 3}", "", []float64{1, 1, 3}},
		{"[no: 2, \"a: b\": 0.5]", "", []float64{2, 0.5, 1}},
		{"", "1,2,3", []float64{1, 2, 3}},
		{"", "{\"a: b\": 4}", []float64{1, 4, 1}},
		{"", "", nil},
	} {
		var sets []string
		text := job
		if tt.line != "" {
			text += "train: {class_weights: " + tt.line + "}\n"
		}
		if tt.set != "" {
			sets = []string{"train.class_weights=" + tt.set}
		}
		cfg, err := load(t, text, nil, sets)
		if err != nil {
			t.Errorf("class_weights %s%s: %v", tt.line, tt.set, err)
			continue
		}
		if got := cfg.ClassWeights(); !slices.Equal(got, tt.want) {
			t.Errorf("class_weights %s%s are %v, want %v", tt.line, tt.set, got, tt.want)
		}
		file, err := cfg.File()
		if err != nil {
			t.Fatal(err)
		}
		again, err := load(t, string(file), nil, nil)
		if err != nil || !slices.Equal(again.ClassWeights(), tt.want) {
			t.Errorf("the job file of class_weights %s%s has them as %v (%v)", tt.line, tt.set, again, err)
		}
	}
	for set, want := range map[string]string{
		"1,2":           "train.class_weights has 2 weights, want one for each of 3 classes",
		"{\">50k\": 1}": `train.class_weights has the class ">50k" (did you mean >50K?), want classes of model.classes`,
		"[no: 1,no: 2]": `train.class_weights has the class "no" twice`,
		"1,-1,1":        "train.class_weights[1] is -1, want 0 or more",
		"{no: x}":       `is x, want a number`,
	} {
		if _, err := load(t, job, nil, []string{"train.class_weights=" + set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("class_weights %s: error %v, want %s", set, err, want)
		}
	}
	cfg, err := load(t, strings.Replace(job, `["no", "a: b", ">50K"]`, "auto", 1), nil, []string{"train.class_weights={yes: 2}"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model.SetNames([]string{"no", "maybe"})
	if err := cfg.CheckClasses(); err == nil || !strings.Contains(err.Error(), `has the class "yes", want classes of`) {
		t.Errorf("a weight of a class that the records do not have: error %v", err)
	}
}
