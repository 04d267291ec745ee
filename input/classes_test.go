package input

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestClasses verifies which labels the names of classes mean: texts and numbers, however a number is written, and as
// float32 has it. Another label is an error that lists the names.
func TestClasses(t *testing.T) {
	c := NewClasses([]string{"1", "2.5", "<=50K", "0.1", "16777217"})
	for _, tt := range []struct {
		label string
		want  float32
	}{{"1", 0}, {"1.0", 0}, {"01", 0}, {" 1", 0}, {"+1e0", 0}, {"2.50", 1}, {"<=50K", 2}, {"0.1", 3}, {"16777217", 4}} {
		if got, err := c.Text([]byte(tt.label)); got != tt.want || err != nil {
			t.Errorf("label %q is class %v, %v, want %v", tt.label, got, err, tt.want)
		}
	}
	if got, err := c.Number(float64(float32(0.1))); got != 3 || err != nil {
		t.Errorf("the float32 0.1 is class %v, %v, want 3", got, err)
	}
	for _, other := range []string{"maybe", "<=50k", "16777216", "nan", "0x1", "1_0", ""} {
		if _, err := c.Text([]byte(other)); err == nil || !strings.Contains(err.Error(), `want one of 1, 2.5, <=50K, 0.1, 16777217`) {
			t.Errorf("label %q: error %v, want one that lists the names", other, err)
		}
	}
	y, err := Labels{Names: c}.Value(3)
	if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.HasPrefix(err.Error(), `label is "3", want one of`) {
		t.Errorf("label 3 is %v, %v, want an error with code 65", y, err)
	}
	text, n := []byte("<=50K"), []byte("1.0")
	if a := testing.AllocsPerRun(10, func() { _, _ = c.Text(text); _, _ = c.Text(n); _, _ = c.Number(2.5) }); a != 0 {
		t.Errorf("finding a class allocates %v objects, want 0", a)
	}
}

// TestLearnClasses verifies that labels become classes whatever goroutine brings them first: numbers by value, then
// texts bytewise, no before yes, false before true.
func TestLearnClasses(t *testing.T) {
	for _, tt := range []struct{ labels, want []string }{
		{[]string{"10", "9", "9.0", "-1", "+10", "-0", "0"}, []string{"-1", "0", "9", "10"}},
		{[]string{"b", "B", "a", "2", "10"}, []string{"2", "10", "B", "a", "b"}},
		{[]string{"Yes", "no"}, []string{"no", "Yes"}},
		{[]string{"TRUE", "false"}, []string{"false", "TRUE"}},
		{[]string{"Y", "n", "yes"}, []string{"Y", "n", "yes"}},
	} {
		c := LearnClasses()
		err := SideBySide(t.Context(), 100, 4, func(_, i int) error {
			_, err := c.Text([]byte(tt.labels[i%len(tt.labels)]))
			return err
		})
		if err = errors.Join(err, c.Settle(nil)); err != nil || !slices.Equal(c.Names(), tt.want) {
			t.Errorf("labels %q are the classes %q, %v, want %q", tt.labels, c.Names(), err, tt.want)
		}
	}
}

// TestClassesRefused verifies the errors of labels that make no classes.
func TestClassesRefused(t *testing.T) {
	c := LearnClasses()
	for _, tt := range []struct{ label, want string }{
		{strings.Repeat("x", maxClassName+1), "is a text of 1025 bytes, want a class, of at most 1024"},
		{"\xff", "want UTF-8 for a class"},
	} {
		if _, err := c.Text([]byte(tt.label)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("label %.10q: error %v, want %q", tt.label, err, tt.want)
		}
	}
	if _, err := c.Number(math.NaN()); err == nil {
		t.Error("NaN is a class")
	}
	settle := func(want string) {
		t.Helper()
		if err := c.Settle(nil); err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q with code 65", err, want)
		}
	}
	settle("no training record has a label")
	c.learn("only")
	settle(`the label is "only" in each training record, want two classes or more`)
	for i := range maxClasses + 10 {
		c.learn(fmt.Sprint(i))
	}
	settle("more than 65536 labels")
}
