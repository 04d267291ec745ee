package state

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/ring/phrase"
)

// Bounds of the text about a disagreement.
const (
	maxKeysNamed  = 3
	maxValueNamed = 120 // bytes
	maxEqualShown = 40  // bytes before the first difference of two long values
)

// disagreement names the first keys in which two workers differ, with both values. It returns "" if
// they agree. The order of the lines does not matter.
func disagreement(a, b *Request) string {
	if slices.Equal(a.Agree, b.Agree) {
		return ""
	}
	va, vb := parseLines(a.Agree), parseLines(b.Agree)
	var keys []string
	for k, v := range va {
		if w, ok := vb[k]; !ok || v != w {
			keys = append(keys, k)
		}
	}
	for k := range vb {
		if _, ok := va[k]; !ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	slices.Sort(keys)
	var parts []string
	for _, k := range keys[:min(len(keys), maxKeysNamed)] {
		x, y := abbreviate(shownValue(va, k), shownValue(vb, k))
		parts = append(parts, fmt.Sprintf("%s is %s on %s and %s on %s", k, x, a.label(), y, b.label()))
	}
	if n := len(keys) - maxKeysNamed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more differ", n))
	}
	return strings.Join(parts, "; ") + ", want the same on all ranks"
}

// parseLines maps the keys of "key=value" lines to their values.
func parseLines(lines []string) map[string]string {
	m := make(map[string]string, len(lines))
	for _, l := range lines {
		k, v, _ := strings.Cut(l, "=")
		m[k] = v
	}
	return m
}

func shownValue(m map[string]string, key string) string {
	v, ok := m[key]
	switch {
	case !ok:
		return "not set"
	case v == "":
		return `""`
	}
	return v
}

// abbreviate shortens two different values to at most maxValueNamed bytes around their first
// difference, so that the shortened values differ too.
func abbreviate(a, b string) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if max(len(a), len(b)) > maxValueNamed && same > maxEqualShown {
		from := same - maxEqualShown
		for from < same && !utf8.RuneStart(a[from]) {
			from++
		}
		a, b = "…"+a[from:], "…"+b[from:]
	}
	return phrase.Clip(a, maxValueNamed), phrase.Clip(b, maxValueNamed)
}
