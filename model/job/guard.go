package job

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"ringtrain/ring/phrase"
)

// The words of export.if.
const (
	Sound  = "sound"  // only a model whose variables are finite, and whose loss is no worse than twice that of a constant prediction
	Always = "always" // any model
)

// Guard is the value of export.if. All of its conditions hold for a model that is exported.
type Guard []Condition

// A Condition is a word of export.if, or a bound on a metric of the exported model's evaluation.
type Condition struct {
	Name    string // of a metric, or a word
	Compare string // >=, >, <= or <; "" of a word
	Bound   float64
}

var inCondition = regexp.MustCompile(`^\s*([a-z0-9_]+)\s*(>=|<=|>|<)\s*(\S+)\s*$`)

// UnmarshalText reads a word, or a condition as auc >= 0.6.
func (c *Condition) UnmarshalText(text []byte) error {
	if word := string(text); word == Sound || word == Always {
		*c = Condition{Name: word}
		return nil
	}
	if m := inCondition.FindSubmatch(text); m != nil {
		bound, err := strconv.ParseFloat(string(m[3]), 64)
		if err == nil && !math.IsNaN(bound) && !math.IsInf(bound, 0) {
			*c = Condition{string(m[1]), string(m[2]), bound}
			return nil
		}
	}
	return fmt.Errorf("is %s%s, want sound, always, or conditions such as auc >= 0.6", abbreviated(string(text)), phrase.DidYouMean(string(text), []string{Sound, Always}))
}

// String returns the form that UnmarshalText reads.
func (c Condition) String() string {
	if c.Compare == "" {
		return c.Name
	}
	return fmt.Sprintf("%s %s %s", c.Name, c.Compare, strconv.FormatFloat(c.Bound, 'g', -1, 64))
}

// IsAlways reports whether any model is exported.
func (g Guard) IsAlways() bool { return len(g) == 1 && g[0].Name == Always }

// Bounds returns the conditions on metrics.
func (g Guard) Bounds() (bounds []Condition) {
	for _, c := range g {
		if c.Compare != "" {
			bounds = append(bounds, c)
		}
	}
	return bounds
}

// check adds the faults of export.if.
func (g Guard) check(f *faults, cfg *Config) {
	classes := cfg.knownClasses()
	for i, c := range g {
		m, known := metricOf(c.Name)
		switch {
		case c.Compare == "" && c.Name == Always && len(g) > 1:
			f.add("export.if[%d] is always, want it alone: any model is exported", i)
		case c.Compare == "":
		case !known || classes >= 0 && !m.has(classes):
			names := metricNames(classes, nil)
			f.add("export.if[%d] is of %q%s, want one of %s", i, c.Name, phrase.DidYouMean(c.Name, names), strings.Join(names, ", "))
		}
	}
	if a := cfg.Train.Average; len(g.Bounds()) > 0 && a.Evaluate != a.Export {
		f.add("export.if is %v, which needs train.average.evaluate and train.average.export alike: what is exported is not what is evaluated", g)
	}
}

// Allows returns an error for each condition that does not hold. valueOf returns a metric of the evaluation of the model,
// false if it has none.
func (g Guard) Allows(valueOf func(metric string) (float64, bool)) error {
	var missed []error
	for _, c := range g.Bounds() {
		switch x, known := valueOf(c.Name); {
		case !known:
			missed = append(missed, fmt.Errorf("export.if: %s is not known, want %s: there is no evaluation of the model", c.Name, c.wanted()))
		case !c.holds(x):
			missed = append(missed, fmt.Errorf("export.if: %s is %s, want %s", c.Name, c.missedBy(x), c.wanted()))
		}
	}
	return errors.Join(missed...)
}

// wanted returns the condition without the metric.
func (c Condition) wanted() string { return strings.TrimPrefix(c.String(), c.Name+" ") }

// missedBy writes a value that does not hold the condition, with so many digits that one sees it.
func (c Condition) missedBy(x float64) string {
	const least, most = 3, 17
	for digits := least; ; digits++ {
		text := strconv.FormatFloat(x, 'g', digits, 64)
		if rounded, err := strconv.ParseFloat(text, 64); digits == most || err == nil && !c.holds(rounded) {
			return text
		}
	}
}

// holds reports whether a value, which may be NaN, holds the condition.
func (c Condition) holds(x float64) bool {
	switch c.Compare {
	case ">=":
		return x >= c.Bound
	case ">":
		return x > c.Bound
	case "<=":
		return x <= c.Bound
	}
	return x < c.Bound
}
