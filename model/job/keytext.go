package job

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// KeyText is a key of a job file: the values that it takes, its default in the form of --set, and what it
// is for.
type KeyText struct{ Key, Takes, Default, Text string }

// About returns the texts of all keys that begin with name: a key, or a group such as input or
// train.average.
func About(name string) ([]KeyText, error) {
	cfg := Default()
	names := make([]string, 0, len(abouts))
	for _, o := range cfg.Options() {
		if names = append(names, o.Key); o.Key == "optimizer.learning_rate" {
			names = append(names, "optimizer.learning_rates") // a map, which is empty
		}
	}
	var texts []KeyText
	groups := map[string]bool{}
	for _, key := range names {
		for at := range len(key) {
			if key[at] == '.' {
				groups[key[:at]] = true
			}
		}
		if key == name || name == "" || strings.HasPrefix(key, name+".") {
			texts = append(texts, cfg.keyText(key))
		}
	}
	if texts != nil {
		return texts, nil
	}
	for group := range groups {
		names = append(names, group)
	}
	slices.Sort(names)
	err := fmt.Errorf("no key %q", name)
	if near := phrase.Nearest(name, names); near != "" {
		err = fmt.Errorf("no key %q (did you mean %q?)", name, near)
	}
	return nil, exitcode.With(exitcode.Usage, err)
}

// keyText returns the text of a key, whose default is its value in j.
func (j *Config) keyText(key string) KeyText {
	v, at := reflect.ValueOf(j).Elem(), keyPath{}
	for name := range strings.SplitSeq(key, ".") {
		var err error
		if v, at, err = descend(v, at, name); err != nil {
			panic("job: a key without a value")
		}
	}
	a := abouts[strings.Replace(key, "input.eval.", "input.train.", 1)]
	return KeyText{key, takes(v.Type(), a.values), shown(v, a.values), a.text}
}

// takes describes the values of a type, of which a key takes some.
func takes(t reflect.Type, values string) string {
	kind := ""
	switch {
	case t == reflect.TypeFor[Every]():
		kind = "steps, or a time such as 60s"
	case t == reflect.TypeFor[Size]():
		kind = "bytes"
	case t.Kind() == reflect.Pointer:
		return takes(t.Elem(), values)
	case t.Kind() == reflect.Map:
		return "for each name a " + takes(t.Elem(), values)
	case isList(t) && values != "":
		return "list: " + values
	case isList(t):
		kind = "list of items"
	case t.Kind() == reflect.Slice:
		return "list: " + takes(t.Elem(), values)
	case t.Kind() == reflect.String && values != "":
		return values
	case t.Kind() == reflect.String:
		kind = "text"
	case t.Kind() == reflect.Bool:
		kind = "true or false"
	case t.Kind() == reflect.Float64:
		kind = "number"
	default:
		kind = "whole number"
	}
	if values == "" {
		return kind
	}
	return kind + ", " + values
}

// shown returns a default for people, "" for none: an empty list, or a 0 that is outside the values.
func shown(v reflect.Value, values string) string {
	switch s, ok := v.Interface().(Size); {
	case ok:
		return s.short()
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0:
		return ""
	case v.IsZero() && values != "" && !strings.HasPrefix(values, "0"):
		return ""
	}
	return format(v)
}
