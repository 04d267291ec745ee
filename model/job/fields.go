package job

import (
	"encoding"
	"reflect"
)

// A field is one key of a group.
type field struct {
	name  string
	value reflect.Value
}

// fields returns the keys of the struct v in order. The keys of an embedded struct stand among them. A
// field without a yaml tag is no key.
func fields(v reflect.Value) []field {
	var list []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && (name == "" || name == ",inline"):
			list = append(list, fields(v.Field(i))...)
		case name != "":
			list = append(list, field{name, v.Field(i)})
		}
	}
	return list
}

// isText reports whether values of type t are read from one text.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isGroup reports whether v holds keys, rather than the value of one key.
func isGroup(v reflect.Value) bool {
	k := v.Kind()
	return (k == reflect.Struct || k == reflect.Map) && !isText(v.Type())
}

// isList reports whether t is a list of groups.
func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !isText(t.Elem())
}

// isKind reports whether t is the type of a kind in a list of groups: a pointer to its options.
func isKind(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isText(t.Elem())
}

// kindsOf returns the names of the kinds of an item of type t, none if its items have no kinds.
func kindsOf(t reflect.Type) []string {
	var names []string
	for _, f := range fields(reflect.New(t).Elem()) {
		if isKind(f.value.Type()) {
			names = append(names, f.name)
		}
	}
	return names
}

// kindOf returns the kind of an item and its options, "" if it has none.
func kindOf(item reflect.Value) (name string, options reflect.Value) {
	for _, f := range fields(item) {
		if isKind(f.value.Type()) && !f.value.IsNil() {
			return f.name, f.value.Elem()
		}
	}
	return "", reflect.Value{}
}

// newGroup returns a new group of type t with its defaults: zero, changed by its method SetDefaults.
func newGroup(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if d, ok := p.Interface().(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	return p.Elem()
}
