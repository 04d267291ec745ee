package column

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ringtrain/model/graph"
)

// A Writing counts texts by the way in which they are written. A way is called like a text that is written so, not like one
// of the texts: a hash hides these, and a model keeps the ways of its training records.
//
// A hash has an id for each text, also for one that training never saw: 1.0 for 1, True for true, 1234 for 01234.
type Writing map[string]int

// ways are what texts are like. The first that fits counts; of whole numbers the way has their length.
var ways = [...]struct {
	like string
	is   *regexp.Regexp
}{
	{"' a'", regexp.MustCompile(`^\s|\s$`)},
	{"0123456789", regexp.MustCompile(`^0\d+$`)},
	{"1234567890", regexp.MustCompile(`^-?\d+$`)},
	{"1.0", regexp.MustCompile(`^-?\d+\.0$`)},
	{"1.00", regexp.MustCompile(`^-?\d+\.00+$`)},
	{"1.5", regexp.MustCompile(`^-?\d+\.\d+$`)},
	{"2026-01-31", regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{"2026-01-31 12:30:00", regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]`)},
	{"true", regexp.MustCompile(`^(true|false)$`)},
	{"True", regexp.MustCompile(`^(True|False)$`)},
	{"e\u0301 of two characters", regexp.MustCompile(`\p{M}`)},
	{"Ab", regexp.MustCompile(`\p{Lu}.*\p{Ll}|\p{Ll}.*\p{Lu}`)},
	{"AB", regexp.MustCompile(`\p{Lu}`)},
	{"ab", regexp.MustCompile(``)},
}

// Add counts a text.
func (w Writing) Add(text string) {
	for _, way := range ways {
		if text != "" && way.is.MatchString(text) {
			if isDigits(way.like) {
				way.like = way.like[:min(len(text), len(way.like))]
			}
			w[way.like]++
			return
		}
	}
}

func isDigits(way string) bool { return strings.Trim(way, "0123456789") == "" }

// surely are the ways that say it from the first text on.
var surely = [...]string{"1.0", "1.00", "true", "True", "' a'"}

// fewTexts are too few to say that their way, which may be rare in training, is another one.
const fewTexts = 20

// leastStrange is of how many texts one at least is written in a way that training has in none.
const leastStrange = 20

// Differ says in which way texts are written that training, whose ways are trained, does not have: if all texts are so, or
// some that are surely meant otherwise. Else, and without ways of training, it says nothing. fix is what to do.
func (w Writing) Differ(trained []string) (what, fix string) {
	whole := slices.DeleteFunc(slices.Clone(trained), func(way string) bool { return !isDigits(way) })
	filled := slices.ContainsFunc(whole, func(way string) bool { return way[0] == '0' })
	mixed := slices.ContainsFunc(trained, func(way string) bool { return strings.EqualFold(way, "ab") }) // codes, as in hex
	known := func(way string) bool {
		if mixed && isDigits(way) {
			return true
		}
		if filled && isDigits(way) { // as postcodes are
			return slices.ContainsFunc(whole, func(one string) bool { return len(way) >= len(one) })
		}
		return slices.Contains(trained, way) || isDigits(way) && way[0] != '0' && len(whole) > 0
	}
	all, others, meant, strange := 0, 0, 0, ""
	for _, way := range slices.Sorted(maps.Keys(w)) {
		all += w[way]
		if known(way) {
			continue
		}
		others += w[way]
		if isDigits(way) || strings.HasPrefix(way, "1.0") || strings.Contains(way, " ") {
			meant += w[way]
		}
		if w[way] > w[strange] {
			strange = way
		}
	}
	if len(trained) == 0 || others == 0 || others < all && meant*leastStrange < all ||
		all < fewTexts && strange[0] != '0' && !(filled && isDigits(strange)) && !slices.Contains(surely[:], strange) {
		return "", ""
	}
	fix = "the texts as training did"
	if strange == "1.0" || slices.Contains(trained, "1.0") {
		fix += "; pandas keeps whole numbers as Int64"
	}
	return fmt.Sprintf("has texts like %s, and training had texts like %s: to a hash these are others", strange, strings.Join(trained, ", ")), fix
}

// Hashes returns the columns of which each cell has one id, by a hash.
func Hashes(p *Plan) (names []string) {
	for _, b := range p.bags {
		if b.Kind == graph.Hash && !b.List {
			names = append(names, b.Name)
		}
	}
	return names
}

// SetWritten says how the training records write the texts of their columns.
func SetWritten(p *Plan, all map[string]Writing) {
	for i := range p.bags {
		p.bags[i].Written = slices.Sorted(maps.Keys(all[p.bags[i].Name]))
	}
}

// Strange tells which columns of records are written as in none of the training records.
func Strange(p *Plan, all map[string]Writing, tell func(column, what, fix string)) {
	for _, b := range p.bags {
		if what, fix := all[b.Name].Differ(b.Written); what != "" {
			tell(b.Name, what, fix)
		}
	}
}
