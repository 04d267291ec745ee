// Package keys reads what the fields of a struct say of themselves as keys of a job file.
//
// A field with the tag yaml is a key. All that is said of the key stands in its other tags, each of which
// may be left out:
//
//	yaml:"name"          the last word of the key
//	default:"100"        the value in a job that does not say the key
//	absent:"8"           what the key counts as without a value
//	takes:"1 or more"    the values: words, or a range of numbers; see [Takes]
//	need:"yes"           the zero value is an error, also without a default
//	doc:"Sentences."     what the key is for; ‘x’ is code
//
// A type whose values are those of a table says them by its method Takes instead.
package keys

import (
	"encoding"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Field is one key of a group.
type Field struct {
	Name  string
	Value reflect.Value
	tag   reflect.StructTag
}

// Of returns the keys of the struct v in order. The keys of an embedded struct stand among them. A field
// without a yaml tag is no key.
func Of(v reflect.Value) []Field {
	var list []Field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && (name == "" || name == ",inline"):
			list = append(list, Of(v.Field(i))...)
		case name != "":
			list = append(list, Field{name, v.Field(i), f.Tag})
		}
	}
	return list
}

// asCode has the marks of code in texts and in tags, which cannot hold backticks.
var asCode = strings.NewReplacer("‘", "`", "’", "`")

// Doc returns what the key is for.
func (f Field) Doc() string { return asCode.Replace(f.tag.Get("doc")) }

// Absent returns what the key counts as without a value, "" if it says nothing.
func (f Field) Absent() string { return f.tag.Get("absent") }

// Needed reports whether the zero value is an error, and nothing else stands for it.
func (f Field) Needed() bool { return f.tag.Get("need") != "" && f.tag.Get("default") == "" }

// Optional reports whether the zero value says that the key has none, whatever values it takes.
func (f Field) Optional() bool { return f.tag.Get("need") == "" && f.tag.Get("default") == "" }

// Takes returns the values of the key, "" if its type says them.
func (f Field) Takes() string {
	t := f.Value.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if words, ok := reflect.Zero(t).Interface().(interface{ Takes() string }); ok {
		return words.Takes()
	}
	return f.tag.Get("takes")
}

// IsText reports whether values of type t are read from one text.
func IsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// IsGroup reports whether v holds keys, rather than the value of one key.
func IsGroup(v reflect.Value) bool {
	k := v.Kind()
	return (k == reflect.Struct || k == reflect.Map) && !IsText(v.Type())
}

// IsList reports whether t is a list of groups.
func IsList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !IsText(t.Elem())
}

// IsKind reports whether t is the type of a kind in a list of groups: a pointer to its options.
func IsKind(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !IsText(t.Elem())
}

// Kinds returns the names of the kinds of an item of type t, none if its items have no kinds.
func Kinds(t reflect.Type) []string {
	var names []string
	for _, f := range Of(reflect.New(t).Elem()) {
		if IsKind(f.Value.Type()) {
			names = append(names, f.Name)
		}
	}
	return names
}

// KindsOf returns the kinds that an item has: one, if the item is right. The value of each is the pointer
// to its options.
func KindsOf(item reflect.Value) []Field {
	var has []Field
	for _, f := range Of(item) {
		if IsKind(f.Value.Type()) && !f.Value.IsNil() {
			has = append(has, f)
		}
	}
	return has
}

// New returns a new group of type t with its defaults.
func New(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	setDefaults(v)
	return v
}

func setDefaults(group reflect.Value) {
	for _, f := range Of(group) {
		if text := f.tag.Get("default"); text != "" {
			mustSet(f, text)
		} else if f.Value.Kind() == reflect.Struct && IsGroup(f.Value) {
			setDefaults(f.Value)
		}
	}
}

// Fill returns a group in which each key without a value has what the key counts as: a text also its
// default.
func Fill[G any](group G) G {
	for _, f := range Of(reflect.ValueOf(&group).Elem()) {
		text := f.Absent()
		if text == "" && f.Value.Kind() == reflect.String {
			text = f.tag.Get("default")
		}
		if unset := reflect.Zero(f.Value.Type()); text != "" && Same(f.Value, unset) {
			mustSet(f, text)
		}
	}
	return group
}

// mustSet sets f to a value of its tag. Items of a list have ", " between them.
func mustSet(f Field, text string) {
	if parts := strings.Split(text, ", "); f.Value.Kind() == reflect.Slice && len(parts) > 1 {
		f.Value.Set(reflect.MakeSlice(f.Value.Type(), len(parts), len(parts)))
		for i, part := range parts {
			mustSet(Field{Value: f.Value.Index(i)}, part)
		}
		return
	}
	if Set(f.Value, text) != "" {
		panic("keys: the tag of a field is no value of it")
	}
}

// Set sets v to the value that text says. It returns what v wants instead, "" if text is a value of v.
func Set(v reflect.Value, text string) (want string) {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if u.UnmarshalText([]byte(text)) != nil {
			return "another text"
		}
		return ""
	}
	var err error
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if want = Set(p.Elem(), text); want == "" {
			v.Set(p)
		}
		return want
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 1, 1)
		if want = Set(list.Index(0), text); want == "" {
			v.Set(list)
		}
		return want
	case reflect.String:
		if !utf8.ValidString(text) {
			return "UTF-8 text"
		}
		v.SetString(text)
		return ""
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
		want = "true or false"
	case reflect.Int, reflect.Int64:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(i)
		want = "a whole number"
	case reflect.Uint64:
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(u)
		want = "a whole number, 0 or more"
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v.SetFloat(f)
		want = "a number"
	default:
		panic("keys: a key of a kind that no job file can hold")
	}
	if err != nil {
		return want
	}
	return ""
}

// Find returns the key called name of a group, to which group points.
func Find(group any, name string) (Field, bool) {
	for _, f := range Of(reflect.ValueOf(group).Elem()) {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}
