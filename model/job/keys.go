package job

import (
	"fmt"
	"reflect"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

// A key is the dotted path of a field of Config. The groups on the path are structs, items of lists, or
// a map. The path ends at one value or a list of values.

// child returns the field or entry called name of the group v, which is at prefix. For a map it returns
// a new value, which setEntry puts into the map.
func child(v reflect.Value, prefix, name string) (reflect.Value, error) {
	if v.Kind() == reflect.Map {
		return reflect.New(v.Type().Elem()).Elem(), nil
	}
	var names []string
	for _, f := range keys.Of(v) {
		if f.Name == name {
			return f.Value, nil
		}
		names = append(names, f.Name)
	}
	return v, unknownKey{prefix, name, names}
}

// unknownKey is the fault of a name that its group does not have.
type unknownKey struct {
	group, name string
	names       []string // names that the group has
}

func (u unknownKey) Error() string {
	key, in := join(u.group, u.name), ""
	if instead := removedKey(key); instead != "" {
		return fmt.Sprintf("%s is gone: %s", key, instead)
	}
	if u.group != "" {
		in = " in " + u.group
	}
	if near := phrase.Nearest(u.name, u.names); near != "" {
		return fmt.Sprintf("no key %q%s (did you mean %q?)", u.name, in, near)
	}
	return fmt.Sprintf("no key %q%s, want one of %s", u.name, in, strings.Join(u.names, ", "))
}

// suggestion returns the name that the user probably meant, or else the unknown name.
func (u unknownKey) suggestion() string {
	if near := phrase.Nearest(u.name, u.names); near != "" {
		return near
	}
	return u.name
}

// setEntry puts field, a value that child returned, into the group v if v is a map. Structs have their
// fields already.
func setEntry(v reflect.Value, name string, field reflect.Value) {
	if v.Kind() != reflect.Map {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(reflect.ValueOf(name), field)
}

// join returns the key of name in the group prefix.
func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// parent returns the group of key, "" for the job itself. It returns false if key is the job.
func parent(key string) (string, bool) {
	if key == "" {
		return "", false
	}
	return key[:max(strings.LastIndexByte(key, '.'), 0)], true
}

// Option is one key with its value in the form of --set.
type Option struct{ Key, Value string }

// Options returns all keys of the job with their values, in the order of the struct.
func (cfg *Config) Options() []Option {
	return appendOptions(nil, reflect.ValueOf(cfg).Elem(), "")
}

// Changed returns the values of the keys that are not at their default, by key.
func (cfg *Config) Changed() map[string]string {
	own := map[string]string{}
	for _, o := range cfg.Options() {
		own[o.Key] = o.Value
	}
	usual := Default()
	for _, o := range usual.Options() {
		if own[o.Key] == o.Value {
			delete(own, o.Key)
		}
	}
	return own
}

func appendOptions(dst []Option, v reflect.Value, key string) []Option {
	if !keys.IsGroup(v) {
		return append(dst, Option{key, format(v)})
	}
	if v.Kind() == reflect.Map {
		for _, name := range keys.SortedKeys(v) {
			dst = append(dst, Option{join(key, name.String()), format(v.MapIndex(name))})
		}
		return dst
	}
	for _, f := range keys.Of(v) {
		dst = appendOptions(dst, f.Value, join(key, f.Name))
	}
	return dst
}

// format is the inverse of setLeaf.
func format(v reflect.Value) string {
	text, isText := v.Interface().(fmt.Stringer)
	switch {
	case v.Kind() == reflect.Slice && isText:
		return text.String()
	case v.Kind() == reflect.Pointer && v.IsNil():
		return ""
	case v.Kind() == reflect.Pointer:
		return format(v.Elem())
	case keys.IsList(v.Type()):
		return yamlValue(v)
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = format(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}
