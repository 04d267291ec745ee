package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/model/graph"
)

// Classes is the value of model.classes: a list of names, or one text, which is a number of classes, auto or the name
// of a file of names.
type Classes []string

// autoClasses are the labels of the training records.
const autoClasses = "auto"

// Count returns the classes 0 to n−1, which have no names.
func Count(n int) Classes { return Classes{strconv.Itoa(n)} }

// number returns a number of classes. ok is false if c is none.
func (c Classes) number() (n int, ok bool) {
	if len(c) != 1 {
		return 0, len(c) == 0
	}
	n, err := strconv.Atoi(c[0])
	return n, err == nil
}

// IsAuto reports whether the names are the labels of the training records.
func (c Classes) IsAuto() bool { return len(c) == 1 && c[0] == autoClasses }

// File returns the file that has the names, "" for none.
func (c Classes) File() string {
	if _, isNumber := c.number(); isNumber || len(c) != 1 || c.IsAuto() {
		return ""
	}
	return c[0]
}

// String returns the form that --set takes.
func (c Classes) String() string {
	switch len(c) {
	case 0:
		return "0"
	case 1:
		return c[0]
	}
	return "[" + strings.Join(c, ", ") + "]"
}

// OrNone returns c, or nil if c says that there are no classes.
func (c Classes) OrNone() Classes {
	if n, isNumber := c.number(); isNumber && n == 0 {
		return nil
	}
	return c
}

// check returns the fault of the value, "" for none.
func (c Classes) check() string {
	switch n, isNumber := c.number(); {
	case isNumber && (n < 0 || n == 1):
		return fmt.Sprintf("is %d, want 2 or more", n)
	case isNumber:
		return ""
	case len(c) == 1:
		if _, isNumber := graph.ClassNumber(c[0]); isNumber {
			return fmt.Sprintf("is %s, want a whole number", c[0])
		}
		return ""
	}
	return faultOfNames(c)
}

// faultOfNames returns what is wrong with names of classes, "" for nothing.
func faultOfNames(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("has the name %s alone, want two or more", names[0])
	}
	seen := map[string]string{}
	for _, name := range names {
		is := name
		if x, isNumber := graph.ClassNumber(name); isNumber {
			is = graph.ClassName(x)
		}
		switch first, twice := seen[is]; {
		case name == "":
			return "has an empty name"
		case twice && first == name:
			return fmt.Sprintf("has %s twice", name)
		case twice:
			return fmt.Sprintf("has %s and %s, which are one number", first, name)
		}
		seen[is] = name
	}
	return ""
}

// Names returns the names of the classes, nil if they have none or these are not known yet.
func (c *Config) Names() []string {
	if len(c.Classes) > 1 {
		return c.Classes
	}
	return c.names
}

// SetNames sets the names of the classes that model.classes leaves to a file or to the training records.
func (c *Config) SetNames(names []string) { c.names = names }

// Named reports whether the classes have names, also if these are not known yet.
func (c *Config) Named() bool { return len(c.Names()) > 0 || c.Unnamed() }

// Unnamed reports whether the names of the classes are not known yet.
func (c *Config) Unnamed() bool {
	return c.names == nil && (c.Classes.IsAuto() || c.Classes.File() != "")
}

// namedLoss returns the loss of classes with names: that of loss.kind, or for auto of those that fit, sigmoid for two
// and softmax for more. Classes that are not known yet count as two.
func (c *Config) namedLoss(l LossConfig, fit []lossKind) (lossKind, int, error) {
	n := max(len(c.Names()), 2)
	fail := func(format string, args ...any) (lossKind, int, error) {
		return lossKind{}, n, fmt.Errorf(format, args...)
	}
	fits := func(kind lossKind) bool {
		return slices.ContainsFunc(fit, func(of lossKind) bool { return of.name == kind.name })
	}
	isAuto := l.Kind == "" || l.Kind == auto
	switch {
	case l.Kind == squaredLoss.name:
		return fail("loss.kind is squared, want sigmoid or softmax: model.classes has names")
	case l.Kind == softmaxLoss.name, isAuto && fits(softmaxLoss) && !(n == 2 && fits(sigmoidLoss)):
		return softmaxLoss, n, nil
	case n == 2:
		return sigmoidLoss, n, nil
	case isAuto && c.Kind != "":
		return fail("model.classes has %d names, want two with model.kind %s", n, c.Kind)
	case isAuto:
		return fail("model.classes has %d names, want two where the last layer has one output", n)
	}
	return fail("model.classes has %d names, want two with loss.kind sigmoid", n)
}
