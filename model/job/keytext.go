package job

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// KeyText is a key of a job file: the values that it takes, its default in the form of --set, and what it
// is for.
type KeyText struct {
	Key, Takes, Default, Text string

	// List is the list of groups of which Key is a key of the items, "" for none. --set wants the name
	// or the number of the item behind the list.
	List string

	values keys.Takes
}

// About returns the texts of all keys that begin with name: a key, or a group such as input, train.average
// or input.columns.numeric. In name an item of a list may have its name or its number, as in --set.
func About(name string) ([]KeyText, error) {
	cfg := Default()
	all := appendTexts(nil, reflect.ValueOf(&cfg).Elem(), "", "")
	if texts := beginning(all, name); texts != nil {
		return texts, nil
	}
	if instead := removedKey(name); instead != "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is gone: %s", name, instead))
	}
	key := withoutItem(all, name)
	if texts := beginning(all, key); texts != nil {
		return texts, nil
	}
	names := make([]string, 0, len(all))
	groups := map[string]bool{}
	for _, k := range all {
		names = append(names, k.Key)
		for at := range len(k.Key) {
			if k.Key[at] == '.' {
				groups[k.Key[:at]] = true
			}
		}
	}
	for group := range groups {
		names = append(names, group)
	}
	slices.Sort(names)
	if kind, _ := parent(name); groups[kind] {
		key = name // it has no item
	}
	err := fmt.Errorf("no key %q", name)
	if near := phrase.Nearest(key, names); near != "" {
		err = fmt.Errorf("no key %q (did you mean %q?)", name, near)
	}
	return nil, exitcode.With(exitcode.Usage, err)
}

// beginning returns the keys that are name or in the group name, nil for none. "" is the job.
func beginning(all []KeyText, name string) (texts []KeyText) {
	for _, k := range all {
		if k.Key == name || name == "" || strings.HasPrefix(k.Key, name+".") {
			texts = append(texts, k)
		}
	}
	return texts
}

// withoutItem returns name without the item of a list, such as input.columns.2.numeric.
func withoutItem(all []KeyText, name string) string {
	for _, k := range all {
		item, isIn := strings.CutPrefix(name, k.List+".")
		if _, key, ok := strings.Cut(item, "."); ok && isIn && k.List != "" {
			return k.List + "." + key
		}
	}
	return name
}

// appendTexts appends the texts of all keys of the group v at key, in the order of the struct. v has the
// values of a job without a file. The keys of items are those of a new item.
func appendTexts(dst []KeyText, v reflect.Value, key, list string) []KeyText {
	for _, f := range keys.Of(v) {
		at, t := join(key, f.Name), f.Value.Type()
		k := KeyText{Key: at, Takes: takes(t, f.Takes()), Text: f.Doc(), List: list, values: keys.Takes(f.Takes())}
		if e, ok := v.Interface().(explainer); ok {
			k.Text = e.Explain(f.Name, k.Text)
		}
		if k.Default = f.Absent(); k.Default == "" {
			k.Default = shown(f.Value, f.Takes())
		}
		switch {
		case keys.IsKind(t):
			options := keys.New(t.Elem())
			k.Takes, k.Default = "kind with options", ""
			if options.NumField() == 0 {
				k.Takes = "kind without options"
			}
			dst = appendTexts(append(dst, k), options, at, list)
		case keys.IsList(t):
			if kinds := keys.Kinds(t.Elem()); kinds != nil {
				k.Takes = "list: " + strings.Join(kinds, ", ")
			}
			dst = appendTexts(append(dst, k), keys.New(t.Elem()), at, at)
		case f.Value.Kind() == reflect.Struct && keys.IsGroup(f.Value):
			dst = appendTexts(dst, f.Value, at, list)
		default:
			dst = append(dst, k)
		}
	}
	return dst
}

// An explainer is a group that completes the texts of its keys from a table.
type explainer interface {
	Explain(key, doc string) string
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
	case t.Kind() == reflect.Struct:
		return values
	case keys.IsList(t):
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
