package train

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// child returns the field or entry called name of the struct or map v. For a
// map it is a fresh value, to be stored by the caller.
func child(v reflect.Value, prefix, name string) (reflect.Value, error) {
	if v.Kind() == reflect.Map {
		return reflect.New(v.Type().Elem()).Elem(), nil
	}
	var names []string
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("yaml")
		if tag == name {
			return v.Field(i), nil
		}
		names = append(names, tag)
	}
	in := ""
	if prefix != "" {
		in = " in " + prefix
	}
	if near := nearest(name, names); near != "" {
		return v, fmt.Errorf("no key %q%s (did you mean %q?)", name, in, near)
	}
	return v, fmt.Errorf("no key %q%s, want one of %s", name, in, strings.Join(names, ", "))
}

// isGroup tells whether v holds options and is not one itself.
func isGroup(v reflect.Value) bool {
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return false
	}
	return v.Kind() == reflect.Struct || v.Kind() == reflect.Map
}

// parseValue turns the text of --set or of a variable into a YAML node. Text
// that goes into a string is taken as it stands, a list may be written with
// commas.
func parseValue(field reflect.Value, text string) (ast.Node, error) {
	if field.Kind() == reflect.String {
		return ast.String(stringToken(text)), nil
	}
	if field.Kind() == reflect.Slice && !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return ast.String(stringToken("")), nil
	}
	return f.Docs[0].Body, nil
}

func stringToken(text string) *token.Token { return token.String(text, text, &token.Position{}) }

// setLeaf sets the option v to the value of n.
func setLeaf(v reflect.Value, n ast.Node) error {
	if _, ok := n.(*ast.NullNode); ok {
		return nil // "key:" without a value leaves the default
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if _, ok := n.(ast.ScalarNode); !ok {
			return fmt.Errorf("is %s, want one value", n)
		}
		return u.UnmarshalText([]byte(n.GetToken().Value))
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if err := setLeaf(p.Elem(), n); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case reflect.Slice:
		return setList(v, n)
	}
	if _, ok := n.(ast.ScalarNode); !ok {
		return fmt.Errorf("is %s, want one value", n)
	}
	return setScalar(v, n)
}

// setList sets a list; one value is a list of one.
func setList(v reflect.Value, n ast.Node) error {
	items := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		items = seq.Values
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if err := setLeaf(list.Index(i), item); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func setScalar(v reflect.Value, n ast.Node) error {
	text := n.GetToken().Value
	if s, ok := n.(*ast.StringNode); ok {
		text = s.Value
	}
	want := ""
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			want = "true or false"
			break
		}
		v.SetBool(b.Value)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			want = "a whole number"
			break
		}
		v.SetInt(i)
	case reflect.Uint64:
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			want = "a whole number, 0 or more"
			break
		}
		v.SetUint(u)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			want = "a number"
			break
		}
		v.SetFloat(f)
	default:
		panic("train: an option of a kind that no job file can hold")
	}
	if want != "" {
		return fmt.Errorf("is %s, want %s", text, want)
	}
	return nil
}

// Option is one key with its value in the form that --set takes.
type Option struct{ Key, Value string }

// Options returns all keys of the job with their values, in the order of the
// struct.
func (j *Job) Options() []Option {
	return appendOptions(nil, reflect.ValueOf(j).Elem(), "")
}

func appendOptions(dst []Option, v reflect.Value, key string) []Option {
	if !isGroup(v) {
		return append(dst, Option{key, format(v)})
	}
	if v.Kind() == reflect.Map {
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			dst = append(dst, Option{join(key, name.String()), format(v.MapIndex(name))})
		}
		return dst
	}
	for i := range v.NumField() {
		dst = appendOptions(dst, v.Field(i), join(key, v.Type().Field(i).Tag.Get("yaml")))
	}
	return dst
}

// format is the inverse of setLeaf.
func format(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return ""
	case v.Kind() == reflect.Pointer:
		return format(v.Elem())
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = format(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// nearest returns the name that is at most two edits away from the given one,
// or "".
func nearest(name string, names []string) string {
	best, bestDistance := "", 3
	for _, n := range names {
		if d := editDistance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// editDistance is Levenshtein's: insertions, deletions and replacements.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
