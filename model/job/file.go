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

	"ringtrain/model/keys"
)

// File returns the job in the form of a job file, with every key that has a value. Load makes an equal
// job from it. File fails if a text is not UTF-8, which Load never accepts.
func (cfg *Config) File() ([]byte, error) { return fileOf(reflect.ValueOf(cfg).Elem()) }

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
	case v.Kind() == reflect.Struct && !keys.IsText(v.Type()):
		for _, f := range keys.Of(v) {
			if err := wantUTF8(f.Value, join(key, f.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendGroup appends the keys of the group v, one a line, indented by indent.
func appendGroup(dst []byte, v reflect.Value, indent string) []byte {
	for _, f := range keys.Of(v) {
		switch v := f.Value; {
		case v.Kind() == reflect.Map:
			dst = appendMap(dst, f.Name, v, indent)
		case keys.IsGroup(v):
			dst = append(dst, indent+f.Name+":\n"...)
			dst = appendGroup(dst, v, indent+"  ")
		case keys.IsList(v.Type()) && v.Len() == 0: // no value
		case keys.IsList(v.Type()):
			dst = append(dst, indent+f.Name+":\n"...)
			for i := range v.Len() {
				dst = append(dst, indent+"  - "+yamlItem(v.Index(i))+"\n"...)
			}
		case v.Kind() == reflect.Pointer && v.IsNil(): // no value
		default:
			dst = append(dst, indent+f.Name+": "+yamlValue(v)+"\n"...)
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
	for _, key := range keys.SortedKeys(v) {
		dst = append(dst, indent+"  "+yamlText(key.String())+": "+yamlValue(v.MapIndex(key))+"\n"...)
	}
	return dst
}

// yamlValue returns the value of a key on one line.
func yamlValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return yamlText(v.String())
	case reflect.Slice:
		one, isText := v.Interface().(fmt.Stringer)
		if isText && v.Len() < 2 {
			return yamlWord(one.String())
		}
		items := make([]string, v.Len())
		for i := range items {
			switch {
			case keys.IsList(v.Type()):
				items[i] = yamlItem(v.Index(i))
			case isText:
				items[i] = yamlWord(v.Index(i).String())
			default:
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
	if len(keys.Kinds(v.Type())) == 0 {
		return yamlKeys(v, true)
	}
	if has := keys.KindsOf(v); len(has) == 1 && yamlOptions(has[0].Value.Elem()) == "{}" {
		rest := reflect.New(v.Type()).Elem()
		rest.Set(v)
		f, _ := child(rest, "", has[0].Name)
		f.SetZero()
		if yamlOptions(rest) == "{}" {
			return has[0].Name
		}
	}
	return yamlOptions(v)
}

// yamlOptions returns a group on one line, without options with their defaults.
func yamlOptions(v reflect.Value) string { return yamlKeys(v, false) }

// yamlKeys returns a group on one line, with all keys or those with another value than the default.
func yamlKeys(v reflect.Value, all bool) string {
	var pairs []string
	defaults := keys.Of(keys.New(v.Type()))
	for i, f := range keys.Of(v) {
		switch {
		case keys.IsKind(f.Value.Type()) && !f.Value.IsNil():
			pairs = append(pairs, f.Name+": "+yamlOptions(f.Value.Elem()))
		case f.Value.Kind() == reflect.Pointer && f.Value.IsNil(), !all && keys.Same(f.Value, defaults[i].Value):
		case keys.IsList(f.Value.Type()) || !keys.IsGroup(f.Value):
			pairs = append(pairs, f.Name+": "+yamlValue(f.Value))
		default:
			pairs = append(pairs, f.Name+": "+yamlOptions(f.Value))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// plainText matches texts that need no quotes in YAML. yamlText excludes those that YAML reads as other
// values.
var plainText = regexp.MustCompile(`^[A-Za-z_/.][A-Za-z0-9_/.\-]*$`)

// yamlWord is yamlText of a text that may stand as a whole number.
func yamlWord(s string) string {
	if n, err := strconv.Atoi(s); err == nil && strconv.Itoa(n) == s {
		return s
	}
	return yamlText(s)
}

// yamlText returns a text in YAML, with quotes if it needs them.
func yamlText(s string) string {
	other := []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan"}
	if plainText.MatchString(s) && !slices.Contains(other, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}
