package graph

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ClassNumber returns the number that a label's text is. ok is false if the text is none.
func ClassNumber(text string) (x float64, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" { // else strconv takes words and hexadecimals
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// maxPlain is the first number that is written with an exponent.
const maxPlain = 1e21

// ClassName returns the name of the class that is a number: 1 for 1.0.
func ClassName(x float64) string {
	form := byte('f')
	if math.Abs(x) >= maxPlain {
		form = 'g'
	}
	return strconv.FormatFloat(x+0, form, -1, 64) // −0 is 0
}

// SortClasses orders the names of classes: numbers by value, then texts bytewise; no before yes, and false before
// true, however they are written.
func SortClasses(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		x, isX := ClassNumber(a)
		y, isY := ClassNumber(b)
		switch {
		case isX && isY:
			return cmp.Compare(x, y)
		case isX:
			return -1
		case isY:
			return 1
		}
		return strings.Compare(a, b)
	})
	if len(names) != 2 {
		return
	}
	for _, pair := range [][2]string{{"no", "yes"}, {"false", "true"}} {
		if strings.EqualFold(names[0], pair[1]) && strings.EqualFold(names[1], pair[0]) {
			names[0], names[1] = names[1], names[0]
		}
	}
}
