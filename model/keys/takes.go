package keys

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/phrase"
)

// A Fault is a value that its key does not take.
type Fault struct {
	Key   string
	Value any
	Near  string // " (did you mean sgd?)", or ""
	Want  string
}

func (f Fault) Error() string {
	value := fmt.Sprint(f.Value)
	if reflect.TypeOf(f.Value).Kind() == reflect.String {
		value = phrase.Quote(value)
	}
	return fmt.Sprintf("%s is %s%s, want %s", f.Key, value, f.Near, f.Want)
}

// Takes are the values of a key, in the words of people:
//
//	auto, squared, sigmoid          words; "want one of …", of two "want mean or sum"
//	log1p                           one word
//	2 or more                       a range; so are 0 or less, above 0, 1 to 64
//	0 or more and below 1           with an end; so are above 0 and at most 1
//	64MiB or more                   of bytes
//	auto, off, or a folder          anything else is for people alone: code checks it
//
// Numbers are those of float32: none that is not finite, or so small that it is 0.
type Takes string

var (
	inWords = regexp.MustCompile(`^[a-z][a-z0-9_-]*(, [a-z][a-z0-9_-]*)*$`)
	inRange = regexp.MustCompile(`^(above )?(-?[\d.]+)([KM]iB)?(?: or (more|less)| to (\d+))?(?: and (below|at most) ([\d.]+))?$`)
)

// Words returns the words, none of a range.
func (t Takes) Words() []string {
	if !inWords.MatchString(string(t)) {
		return nil
	}
	return strings.Split(string(t), ", ")
}

// Refuses returns what is wanted instead of a value that t does not have, "" for others.
func (t Takes) Refuses(v reflect.Value) string {
	words := t.Words()
	switch {
	case t == "":
		return ""
	case v.Kind() == reflect.String && len(words) == 1 && v.String() != words[0]:
		return words[0]
	case v.Kind() == reflect.String && words != nil && !slices.Contains(words, v.String()):
		if len(words) == 2 {
			return words[0] + " or " + words[1]
		}
		return "one of " + string(t)
	case v.CanInt() && !t.has(float64(v.Int())), v.CanUint() && !t.has(float64(v.Uint())):
		return string(t)
	case !v.CanFloat():
		return ""
	}
	x := v.Float()
	narrow := float64(float32(x))
	switch {
	case !t.has(x), !t.has(narrow):
		return string(t)
	case math.IsNaN(x), math.IsInf(narrow, 0), x != 0 && narrow == 0:
		return string(t) + ", within the range of float32"
	}
	return ""
}

// A Range is a range of numbers.
type Range struct {
	Min, Max           float64
	AboveMin, BelowMax bool // Min, and Max, are not in it
}

// Range returns the range that t is. ok is false if it is none.
func (t Takes) Range() (r Range, ok bool) {
	m := inRange.FindStringSubmatch(string(t))
	if m == nil {
		return r, false
	}
	number := func(s string) float64 {
		n, _ := strconv.ParseFloat(s, 64)
		return n * map[string]float64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[3]]
	}
	r = Range{Min: number(m[2]), Max: math.Inf(1), AboveMin: m[1] != "", BelowMax: m[6] == "below"}
	switch {
	case m[4] == "less":
		r.Min, r.Max = math.Inf(-1), r.Min
	case m[5] != "":
		r.Max = number(m[5])
	case m[6] != "":
		r.Max = number(m[7])
	}
	return r, true
}

// has reports whether x is in the range, if t is one.
func (t Takes) has(x float64) bool {
	r, ok := t.Range()
	return !ok || x >= r.Min && x <= r.Max && !(r.AboveMin && x == r.Min) && !(r.BelowMax && x == r.Max)
}

// Check returns a [Fault] for each key of a group, or of a group in it, whose value the key does not
// take. prefix is the key of the group. Items of lists are for others to check.
func Check(prefix string, group any) []error {
	var errs []error
	for _, f := range Of(reflect.Indirect(reflect.ValueOf(group))) {
		errs = f.check(errs, join(prefix, f.Name))
	}
	return errs
}

func (f Field) check(errs []error, key string) []error {
	takes, v := Takes(f.Takes()), f.Value
	add := func(key string, v reflect.Value) {
		if want := takes.Refuses(v); want != "" {
			errs = append(errs, Fault{key, v.Interface(), phrase.DidYouMean(v.String(), takes.Words()), want})
		}
	}
	switch isUnset := v.IsZero() && f.Optional(); {
	case IsList(v.Type()), isUnset:
	case v.Kind() == reflect.Struct:
		if IsGroup(v) {
			errs = append(errs, Check(key, v.Interface())...)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			add(fmt.Sprintf("%s[%d]", key, i), v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for _, name := range SortedKeys(v) {
			add(join(key, name.String()), v.MapIndex(name))
		}
	default:
		add(key, reflect.Indirect(v))
	}
	return errs
}

// Unused returns an error for each key of a group that has a value and is not among those that are taken
// with something, such as "format idx".
func Unused(prefix string, group any, taken []string, with string) []error {
	var errs []error
	for _, f := range Of(reflect.Indirect(reflect.ValueOf(group))) {
		if unset := reflect.New(f.Value.Type()).Elem(); !slices.Contains(taken, f.Name) && !Same(f.Value, unset) {
			errs = append(errs, fmt.Errorf("%s is %v, want none with %s", join(prefix, f.Name), reflect.Indirect(f.Value), with))
		}
	}
	return errs
}

// Missing returns a [Fault] for each of the named keys of a group that has no value.
func Missing(prefix string, group any, names []string) []error {
	var errs []error
	for _, f := range Of(reflect.Indirect(reflect.ValueOf(group))) {
		if slices.Contains(names, f.Name) && f.Value.IsZero() {
			errs = append(errs, Fault{Key: join(prefix, f.Name), Value: f.Value.Interface(), Want: f.Takes()})
		}
	}
	return errs
}

// Owned returns the text of a key that only some kinds have, "Of idx: …".
func Owned(of []string, doc string) string {
	if of == nil {
		return doc
	}
	return "Of " + phrase.And(of) + ": " + strings.ToLower(doc[:1]) + doc[1:]
}

// Same reports whether two values of a key are equal. A list without items equals nil.
func Same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// SortedKeys returns the keys of a map with text keys in order.
func SortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

func join(prefix, name string) string { return strings.TrimPrefix(prefix+"."+name, ".") }
