package job

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

// A ClassWeight is an item of train.class_weights: what an example of a class counts.
type ClassWeight struct {
	Class  string // name of the class; "": the classes have the items in their order
	Weight float64
}

// UnmarshalText reads a number, or the name of a class, a colon and a number.
func (c *ClassWeight) UnmarshalText(text []byte) error {
	number := string(text)
	*c = ClassWeight{}
	if at := strings.LastIndex(number, nameEnd); at >= 0 {
		c.Class, number = number[:at], number[at+len(nameEnd):]
	}
	w, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("is %s, want a number", abbreviated(number))
	}
	c.Weight = w
	return nil
}

// nameEnd is behind the name of a class.
const nameEnd = ": "

// String returns the form of a job file.
func (c ClassWeight) String() string {
	number := strconv.FormatFloat(c.Weight, 'g', -1, 64)
	if c.Class == "" {
		return number
	}
	return yamlText(c.Class) + nameEnd + number
}

// checkClassWeights adds the faults of train.class_weights.
func (cfg *Config) checkClassWeights(f *faults) {
	w := cfg.Train.ClassWeights
	for i, c := range w {
		if want := keys.Takes("0 or more").Refuses(reflect.ValueOf(c.Weight)); want != "" {
			f.add("train.class_weights[%d] is %v, want %s", i, c.Weight, want)
		}
	}
	if len(w) == 0 || cfg.Model.Check(cfg.Loss) != nil || cfg.Model.Unnamed() {
		return // Check reports this fault, or CheckClasses does
	}
	classes := cfg.Model.Head(cfg.Loss).Names()
	named := slices.ContainsFunc(w, func(c ClassWeight) bool { return c.Class != "" })
	if len(classes) == 0 {
		f.add("train.class_weights is %v, want none: labels are no classes", w)
		return
	}
	if !named && len(w) != len(classes) {
		f.add("train.class_weights has %d weights, want one for each of %d classes", len(w), len(classes))
	}
	for i, c := range w {
		switch {
		case !named:
		case !slices.Contains(classes, c.Class):
			f.add("train.class_weights has the class %s%s, want classes of model.classes", phrase.Quote(c.Class), phrase.DidYouMean(c.Class, classes))
		case slices.ContainsFunc(w[:i], func(before ClassWeight) bool { return before.Class == c.Class }):
			f.add("train.class_weights has the class %s twice", phrase.Quote(c.Class))
		}
	}
}

// ClassWeights returns the weight of each class of the model, nil if all are 1. A class that is not named has weight 1.
func (cfg *Config) ClassWeights() []float64 {
	if len(cfg.Train.ClassWeights) == 0 {
		return nil
	}
	names := cfg.Model.Head(cfg.Loss).Names()
	weights := slices.Repeat([]float64{1}, len(names))
	for i, c := range cfg.Train.ClassWeights {
		if c.Class != "" {
			i = slices.Index(names, c.Class)
		}
		weights[i] = c.Weight
	}
	return weights
}
