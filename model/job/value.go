package job

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

// parseValue turns the text of --set or of a variable into a YAML node. It takes the text of a string
// literally. A list may be separated by commas; its strings are then taken literally too, so file
// patterns need no quotes.
func parseValue(field reflect.Value, text string) (ast.Node, error) {
	kind, elem := field.Kind(), reflect.Invalid
	if kind == reflect.Slice {
		elem = field.Type().Elem().Kind()
	}
	bare := !strings.HasPrefix(strings.TrimSpace(text), "[")
	if keys.IsList(field.Type()) { // its items may be on separate lines
		bare = bare && !strings.HasPrefix(strings.TrimSpace(text), "-")
	}
	switch {
	case kind == reflect.String:
		return textNode(text), nil
	case elem == reflect.String && bare:
		list := ast.Sequence(nil, true)
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list.Values = append(list.Values, textNode(item))
			}
		}
		return list, nil
	case kind == reflect.Slice && bare:
		text = "[" + text + "]"
	}
	f, err := parseYAML([]byte(text))
	if b, ok := errors.AsType[*beyond](err); ok {
		return nil, fmt.Errorf("is %s, %s", abbreviated(text), b.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("is %s, which cannot be read", abbreviated(text))
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return textNode(text), nil
	}
	return f.Docs[0].Body, nil
}

// textNode returns a YAML node of a text.
func textNode(text string) ast.Node {
	return ast.String(token.String(text, text, &token.Position{}))
}

// setLeaf sets v, the value of a key, to the value of n. Its error continues a sentence that begins with
// the key: "is …, want …".
func setLeaf(v reflect.Value, n ast.Node) error {
	if _, ok := n.(*ast.NullNode); ok {
		return nil // "key:" without a value leaves the default
	}
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := setLeaf(p.Elem(), n); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	if v.Kind() == reflect.Slice {
		return setList(v, n)
	}
	if !isPlain(n) {
		return fmt.Errorf("is %s, want one value", describe(n))
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(scalarText(n)))
	}
	return setScalar(v, n)
}

// isPlain reports whether n is one value, without alias, anchor or tag.
func isPlain(n ast.Node) bool {
	switch n.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return false
	}
	_, ok := n.(ast.ScalarNode)
	return ok
}

// setList sets a list. One value is a list of one.
func setList(v reflect.Value, n ast.Node) error {
	items := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		items = seq.Values
	}
	if keys.IsText(v.Type().Elem()) {
		items = named(items)
	}
	if len(items) == 0 {
		v.SetZero()
		return nil
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

// named returns the items of a list of texts in which the pair of a name and a value is a text, too: its form is NAME:
// VALUE.
func named(items []ast.Node) []ast.Node {
	var all []ast.Node
	for _, item := range items {
		if !isMapping(item) {
			all = append(all, item)
		}
		for _, pair := range pairsOf(item) {
			if !isPlain(pair.Value) {
				return items
			}
			all = append(all, textNode(scalarText(pair.Key)+nameEnd+scalarText(pair.Value)))
		}
	}
	return all
}

// setScalar sets one value. A text in quotes is not a number.
func setScalar(v reflect.Value, n ast.Node) error {
	text := scalarText(n)
	_, isBool := n.(*ast.BoolNode)
	if v.Kind() != reflect.String && isQuoted(n) || v.Kind() == reflect.Bool && !isBool {
		text = "" // no value of these kinds
	}
	if want := keys.Set(v, text); want != "" {
		return fmt.Errorf("is %s, want %s", describe(n), want)
	}
	return nil
}

// scalarText returns the text of n in the file, without quotes.
func scalarText(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}

func isQuoted(n ast.Node) bool {
	t := n.GetToken().Type
	return t == token.SingleQuoteType || t == token.DoubleQuoteType
}

// describe describes n in a few words.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return fmt.Sprintf("an alias, anchor or tag (a text that begins with %s needs quotes)", n.GetToken().Value)
	}
	if isQuoted(n) {
		return phrase.Quote(scalarText(n))
	}
	return abbreviated(scalarText(n))
}

// abbreviated returns text in a form that fits on one line of an error.
func abbreviated(text string) string {
	quoted := phrase.Quote(text)
	if text == "" || len(quoted) != len(text)+2 {
		return quoted
	}
	return text
}
