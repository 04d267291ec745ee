package train

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File returns the job in the form of a job file, with every key that has a
// value. LoadJob makes an equal job of it. It fails if a text is not UTF-8, which
// LoadJob accepts nowhere.
func (j *Job) File() ([]byte, error) {
	for _, o := range j.Options() {
		if !utf8.ValidString(o.Value) {
			return nil, fmt.Errorf("%s is %q, want UTF-8 text", o.Key, o.Value)
		}
	}
	return appendGroup(nil, reflect.ValueOf(j).Elem(), ""), nil
}

// appendGroup adds the keys of the group v, one a line, behind indent.
func appendGroup(dst []byte, v reflect.Value, indent string) []byte {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Tag.Get("yaml"), v.Field(i)
		switch {
		case field.Kind() == reflect.Map:
			dst = appendMap(dst, name, field, indent)
		case isGroup(field):
			dst = append(dst, indent+name+":\n"...)
			dst = appendGroup(dst, field, indent+"  ")
		case field.Kind() == reflect.Pointer && field.IsNil(): // no value
		default:
			dst = append(dst, indent+name+": "+yamlValue(field)+"\n"...)
		}
	}
	return dst
}

// appendMap adds a map with its entries in order, or nothing if it has none.
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

// sortedKeys returns the keys of a map with texts for keys.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// yamlValue is the value of a key on one line.
func yamlValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return yamlText(v.String())
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = yamlValue(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return format(v)
}

// plainText matches texts that need no quotes anywhere in YAML; those that it
// takes for other values are excluded by hand.
var plainText = regexp.MustCompile(`^[A-Za-z_/.][A-Za-z0-9_/.\-]*$`)

// yamlText is a text as YAML, in quotes unless it is plain.
func yamlText(s string) string {
	other := []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan"}
	if plainText.MatchString(s) && !slices.Contains(other, strings.ToLower(s)) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}
