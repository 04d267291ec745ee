package column

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestWriting verifies which texts are told that are written as none of training, and in which way, and that others are not.
func TestWriting(t *testing.T) {
	repeated := func(text string, n int) string { return strings.Repeat(text+"|", n) }
	for _, tt := range []struct {
		name, trained, here string
		want                string // the way; "" if nothing is told
	}{
		{"whole numbers as floats", "1|12|-3", "1.0|12.0|-3.0", "1.0"},
		{"floats as whole numbers", "1.0|12.0", "1|12", "1"},
		{"more digits", "1|12", "1234", ""},
		{"the same floats", "1.0|2.5", "7.0", ""},
		{"scale", "1.50|2.00", "1.5|2.0", "1.0"},
		{"truth values of pandas", "true|false", "True|False", "True"},
		{"postcodes without zeros", "01234|80331", "1234|80331", "123"},
		{"postcodes with zeros", "1234|80331", "01234|80331", "0123"},
		{"postcodes in order", "01234|01235", "80331", ""},
		{"a few with zeros", "1234|80331", "01234|" + repeated("80331", 100), ""},
		{"blanks", "Bern|Zug", " Bern| Zug", "' a'"},
		{"a blank here and there", "Bern|Zug", "Bern |" + repeated("Zug", 100), ""},
		{"capitals", "Bern|Zug", "BERN|ZUG", "AB"},
		{"some capitals", "Bern|Zug", "BERN|Zug", ""},
		{"small letters", "BE|ZG", "be|zg", "ab"},
		{"characters apart", "Zürich|Bern", "Zu\u0308rich|Bern|Zug", "e\u0301 of"},
		{"dates with a time", "2026-01-31", "2026-01-31 00:00:00", "2026-01-31 12:30:00"},
		{"nothing is known of training", "", "1.0", ""},
		{"missing", "1|2", "||", ""},
	} {
		trained, here := Writing{}, Writing{}
		for _, text := range strings.Split(tt.trained, "|") {
			trained.Add(text)
		}
		for range fewTexts {
			for _, text := range strings.Split(tt.here, "|") {
				here.Add(text)
			}
		}
		what, fix := here.Differ(slices.Sorted(maps.Keys(trained)))
		if got := what + fix; tt.want == "" && got != "" || tt.want != "" && !strings.HasPrefix(what, "has texts like "+tt.want) {
			t.Errorf("%s: %q, want the way %q", tt.name, got, tt.want)
		}
	}
}

// TestFewTexts verifies that a few texts in a way that may be rare in training are not told of, and others are.
func TestFewTexts(t *testing.T) {
	for _, tt := range []struct {
		trained []string
		here    string
		want    bool
	}{
		{[]string{"Ab"}, "USA", false},
		{[]string{"ab"}, "12345678", false},
		{[]string{"12345678", "ab"}, "01234567", false},
		{[]string{"1", "12"}, "1.0", true},
		{[]string{"true"}, "True", true},
		{[]string{"01234", "12345"}, "1234", true},
		{[]string{"Ab"}, " Bern", true},
	} {
		w := Writing{}
		w.Add(tt.here)
		if what, _ := w.Differ(tt.trained); (what != "") != tt.want {
			t.Errorf("%q after %q: %q, want a word %t", tt.here, tt.trained, what, tt.want)
		}
	}
}
