package job

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File returns the job in the form of a job file, with every key that has a value. Load makes an equal
// job from it. File fails if a text is not UTF-8, which Load never accepts.
func (j *Config) File() ([]byte, error) { return fileOf(reflect.ValueOf(j).Elem()) }

// fileOf returns the group root in the form of a job file.
func fileOf(root reflect.Value) ([]byte, error) {
	if err := wantUTF8(root, ""); err != nil {
		return nil, err
	}
	return appendGroup(nil, root, ""), nil
}

// wantUTF8 returns an error for a text in v, at key, that is not UTF-8.
func wantUTF8(v reflect.Value, key string) error {
	switch {
	case v.Kind() == reflect.String && !utf8.ValidString(v.String()):
		return fmt.Errorf("%s is %q, want UTF-8 text", key, v.String())
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return wantUTF8(v.Elem(), key)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := wantUTF8(v.Index(i), fmt.Sprintf("%s[%d]", key, i)); err != nil {
				return err
			}
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			if err := errors.Join(wantUTF8(k, key), wantUTF8(v.MapIndex(k), join(key, k.String()))); err != nil {
				return err
			}
		}
	case v.Kind() == reflect.Struct && !isText(v.Type()):
		for _, f := range fields(v) {
			if err := wantUTF8(f.value, join(key, f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendGroup appends the keys of the group v, one a line, indented by indent.
func appendGroup(dst []byte, v reflect.Value, indent string) []byte {
	for _, f := range fields(v) {
		switch v := f.value; {
		case v.Kind() == reflect.Map:
			dst = appendMap(dst, f.name, v, indent)
		case isGroup(v):
			dst = append(dst, indent+f.name+":\n"...)
			dst = appendGroup(dst, v, indent+"  ")
		case isList(v.Type()) && v.Len() == 0: // no value
		case isList(v.Type()):
			dst = append(dst, indent+f.name+":\n"...)
			for i := range v.Len() {
				dst = append(dst, indent+"  - "+yamlItem(v.Index(i))+"\n"...)
			}
		case v.Kind() == reflect.Pointer && v.IsNil(): // no value
		default:
			dst = append(dst, indent+f.name+": "+yamlValue(v)+"\n"...)
		}
	}
	return dst
}

// appendMap appends a map with its entries in order. It appends nothing for an empty map.
func appendMap(dst []byte, name string, v reflect.Value, indent string) []byte {
	if v.Len() == 0 {
		return dst
	}
	dst = append(dst, indent+name+":\n"...)
	for _, key := range sortedKeys(v) {
		dst = append(dst, indent+"  "+yamlText(key.String())+": "+yamlValue(v.MapIndex(key))+"\n"...)
	}
	return dst
}

// sortedKeys returns the keys of a map with text keys in order.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// yamlValue returns the value of a key on one line.
func yamlValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return yamlText(v.String())
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			if isList(v.Type()) {
				items[i] = yamlItem(v.Index(i))
			} else {
				items[i] = yamlValue(v.Index(i))
			}
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Pointer:
		return yamlValue(v.Elem())
	}
	return format(v)
}

// yamlItem returns an item of a list of groups on one line: a word for a kind without options. It
// leaves out options with their defaults, but not in a list without kinds: a key that an item of
// input.evals does not say is inherited.
func yamlItem(v reflect.Value) string {
	if len(kindsOf(v.Type())) == 0 {
		return yamlKeys(v, true)
	}
	if kind, options := kindOf(v); kind != "" && yamlOptions(options) == "{}" {
		rest := reflect.New(v.Type()).Elem()
		rest.Set(v)
		f, _ := child(rest, "", kind)
		if f.SetZero(); yamlOptions(rest) == "{}" {
			return kind
		}
	}
	return yamlOptions(v)
}

// yamlOptions returns a group on one line, without options with their defaults.
func yamlOptions(v reflect.Value) string { return yamlKeys(v, false) }

// yamlKeys returns a group on one line, with all keys or those with another value than the default.
func yamlKeys(v reflect.Value, all bool) string {
	var pairs []string
	defaults := fields(newGroup(v.Type()))
	for i, f := range fields(v) {
		switch {
		case isKind(f.value.Type()) && !f.value.IsNil():
			pairs = append(pairs, f.name+": "+yamlOptions(f.value.Elem()))
		case f.value.Kind() == reflect.Pointer && f.value.IsNil(), !all && sameValue(f.value, defaults[i].value):
		case isList(f.value.Type()) || !isGroup(f.value):
			pairs = append(pairs, f.name+": "+yamlValue(f.value))
		default:
			pairs = append(pairs, f.name+": "+yamlOptions(f.value))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// sameValue reports whether two values of a key are equal. A list without items equals nil.
func sameValue(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// plainText matches texts that need no quotes in YAML. yamlText excludes those that YAML reads as other
// values.
var plainText = regexp.MustCompile(`^[A-Za-z_/.][A-Za-z0-9_/.\-]*$`)

// yamlText returns a text in YAML, with quotes if it needs them.
func yamlText(s string) string {
	other := []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan"}
	if plainText.MatchString(s) && !slices.Contains(other, strings.ToLower(s)) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}
