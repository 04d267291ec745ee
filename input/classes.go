package input

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

const (
	maxClasses   = 1 << 16 // that are learnt
	maxClassName = 1 << 10 // bytes of a name that is learnt
)

// Classes has the names of classes, and finds the class of a label: a text, or a number, however that is written.
// While it learns, each new label is a new class. Several goroutines may use it.
type Classes struct {
	names   []string
	texts   map[string]int
	numbers map[float64]int

	learns bool
	mu     sync.RWMutex // while it learns
}

// LearnClasses returns classes that learn their names until Settle.
func LearnClasses() *Classes {
	return &Classes{texts: map[string]int{}, numbers: map[float64]int{}, learns: true}
}

// NewClasses returns classes by their names.
func NewClasses(names []string) *Classes {
	c := LearnClasses()
	c.adopt(names)
	return c
}

// adopt ends the learning with names in their order.
func (c *Classes) adopt(names []string) {
	c.names, c.learns = names, false
	clear(c.texts)
	clear(c.numbers)
	for i, name := range names {
		c.texts[name] = i
		if x, isNumber := graph.ClassNumber(name); isNumber {
			c.numbers[labelKey(x)] = i
		}
	}
}

// Learns reports whether the names are to be learnt.
func (c *Classes) Learns() bool { return c != nil && c.learns }

// Names returns the names of the classes; while they are learnt, in the order in which they came.
func (c *Classes) Names() []string { return c.names }

// Settle ends the learning with the names that were learnt, as SettledClasses returns them, or with those of an
// earlier run.
func (c *Classes) Settle(earlier []string) (err error) {
	names := earlier
	if names == nil {
		names, err = SettledClasses(c.names)
	}
	if err == nil {
		c.adopt(names)
	}
	return err
}

// SettledClasses returns the labels of training records in the order of classes: see graph.SortClasses. Fewer than two
// labels, or too many, are an error with exitcode.BadData.
func SettledClasses(labels []string) ([]string, error) {
	fault := ""
	switch n := len(labels); {
	case n == 0:
		fault = "no training record has a label"
	case n == 1:
		fault = fmt.Sprintf("the label is %s in each training record, want two classes or more", phrase.Quote(labels[0]))
	case n > maxClasses:
		fault = fmt.Sprintf("the training records have more than %d labels, want fewer classes, or for a number none", maxClasses)
	}
	if fault != "" {
		return nil, exitcode.With(exitcode.BadData, errors.New(fault))
	}
	graph.SortClasses(labels)
	return labels, nil
}

// labelKey is equal for numbers that float32 does not tell apart, as far as it has fractions: files of some formats
// have their labels as float32.
func labelKey(x float64) float64 {
	if near := float32(x); -1<<24 < near && near < 1<<24 {
		return float64(near)
	}
	return x
}

// Number returns the class of a label that is a number.
func (c *Classes) Number(x float64) (float32, error) {
	if !c.learns {
		if class, known := c.numbers[labelKey(x)]; known {
			return float32(class), nil
		}
		return 0, c.other(graph.ClassName(x))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("is %g, want a class", x)
	}
	return c.learn(graph.ClassName(x)), nil
}

// Text returns the class of a label that is a text, which may be a number.
func (c *Classes) Text(label []byte) (float32, error) {
	text := unsafe.String(unsafe.SliceData(label), len(label)) // as long as the label stays
	if !c.learns {
		if class, known := c.texts[text]; known {
			return float32(class), nil
		}
	}
	if x, isNumber := graph.ClassNumber(text); isNumber {
		return c.Number(x)
	}
	switch {
	case !c.learns:
		return 0, c.other(text)
	case len(text) > maxClassName:
		return 0, fmt.Errorf("is a text of %d bytes, want a class, of at most %d", len(text), maxClassName)
	case !utf8.ValidString(text):
		return 0, fmt.Errorf("is %s, want UTF-8 for a class", phrase.Quote(text))
	}
	return c.learn(text), nil
}

// other is the error of a label that is no class.
func (c *Classes) other(label string) error {
	return fmt.Errorf("is %s, want one of %s", phrase.Quote(phrase.Clip(label, maxClassName)), phrase.Names(c.names, mostShown))
}

// learn returns the class with a name, a new one if no label before had it. Names beyond the largest number that
// Settle takes stay out.
func (c *Classes) learn(name string) float32 {
	c.mu.RLock()
	class, known := c.texts[name]
	c.mu.RUnlock()
	if known {
		return float32(class)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if class, known = c.texts[name]; known || len(c.names) > maxClasses {
		return float32(class)
	}
	name = strings.Clone(name)
	class = len(c.names)
	c.names, c.texts[name] = append(c.names, name), class
	return float32(class)
}

// mostShown bounds the names in a message.
const mostShown = 10
