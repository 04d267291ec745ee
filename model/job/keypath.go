package job

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

// A keyPath leads to a group, a list or a value of a job. Its key counts items of lists from 0. Its
// label uses the names of items that have one, as errors do.
type keyPath struct{ key, label string }

func (p keyPath) join(name string) keyPath { return keyPath{join(p.key, name), join(p.label, name)} }

// item returns the path of item i. The item may have a name.
func (p keyPath) item(i int, name string) keyPath {
	number := strconv.Itoa(i)
	if name == "" {
		name = number
	}
	return keyPath{join(p.key, number), join(p.label, name)}
}

// itemName returns the name of an item of a list, "" for none.
func itemName(item reflect.Value) string {
	for _, f := range keys.Of(item) {
		if f.Name == "name" && f.Value.Kind() == reflect.String {
			return f.Value.String()
		}
	}
	return ""
}

// itemIndex returns the number of the item of list v with this name or number.
func itemIndex(v reflect.Value, at keyPath, name string) (int, error) {
	var names []string
	for i := range v.Len() {
		switch n := itemName(v.Index(i)); {
		case n == "":
		case n == name:
			return i, nil
		default:
			names = append(names, n)
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < v.Len() && strconv.Itoa(i) == name {
		return i, nil
	}
	want := "no item"
	if n := v.Len(); n > 0 {
		want = fmt.Sprintf("0 to %d", n-1)
	}
	if near := phrase.Nearest(name, names); near != "" {
		want = fmt.Sprintf("%q, or %s", near, want)
	} else if len(names) > 0 {
		want = strings.Join(names, ", ") + " or " + want
	}
	return 0, fmt.Errorf("no item %q in %s, want %s", name, at.label, want)
}

// descend returns the member called name of v, which is at a path, and the path of the member.
func descend(v reflect.Value, at keyPath, name string) (reflect.Value, keyPath, error) {
	if keys.IsList(v.Type()) {
		i, err := itemIndex(v, at, name)
		if err != nil {
			return v, at, err
		}
		return v.Index(i), at.item(i, name), nil
	}
	f, err := child(v, at.label, name)
	if err != nil || !keys.IsKind(f.Type()) {
		return f, at.join(name), err
	}
	if f.IsNil() {
		return f, at, fmt.Errorf("%s is %s, not %s", at.label, strings.Join(namesOfKinds(v), " and "), name)
	}
	return f.Elem(), at.join(name), nil
}

// canonical returns key with numbers in place of the names of items.
func canonical(root reflect.Value, key string) string {
	v, at := root, keyPath{}
	names := strings.Split(key, ".")
	for i, name := range names {
		if !keys.IsGroup(v) && !keys.IsList(v.Type()) || v.Kind() == reflect.Map {
			return join(at.key, strings.Join(names[i:], "."))
		}
		var err error
		if v, at, err = descend(v, at, name); err != nil {
			return join(at.key, strings.Join(names[i:], "."))
		}
	}
	return at.key
}
