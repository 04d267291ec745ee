package job

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ringtrain/model/keys"
	"ringtrain/ring/phrase"
)

// A list of groups has one of two forms. In a list of kinds an item has exactly one
// kind, which is a group of its own, and plain keys beside it:
//
//	layers:
//	  - {name: c1, conv2d: {filters: 16, kernel: 3}}
//	  - relu                             a kind without options
//	  - {name: sum, in: [c1, relu], add: {}}
//
// Its Go type is a slice of structs, in which each kind is a pointer to a struct:
//
//	type Layer struct {
//		Name   string   `yaml:"name"`
//		In     []string `yaml:"in"`
//		Conv2D *Conv2D  `yaml:"conv2d"`
//		…
//	}
//
// A struct without such pointers makes a plain list, whose items have their own keys
// only.

// items puts a YAML list into v, the list of groups at a path.
func (s *source) items(n ast.Node, v reflect.Value, at keyPath) {
	if _, ok := n.(*ast.NullNode); ok {
		return // "key:" without a value leaves the default
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		s.fail(n, at.key, fmt.Errorf("%s is %s, want a list", at.label, describe(n)))
		return
	}
	before := len(s.loader.faults)
	list := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		list.Index(i).Set(keys.New(v.Type().Elem()))
		s.item(item, list.Index(i), at.item(i, writtenName(item)))
	}
	v.SetZero()
	if list.Len() > 0 {
		v.Set(list)
	}
	if len(s.loader.faults) > before {
		s.loader.suspect[at.key] = true // a faulty item may cause faults of later items
	}
}

// item puts one item of a list into v.
func (s *source) item(n ast.Node, v reflect.Value, at keyPath) {
	s.setAt(at.key, firstNode(n))
	kinds := keys.Kinds(v.Type())
	switch {
	case len(kinds) == 0:
		s.mapping(n, v, at)
		return
	case isPlain(n):
		s.bareKind(n, v, at, kinds)
		return
	case !isMapping(n):
		s.fail(n, at.key, fmt.Errorf("%s is %s, want a kind or a mapping with one", at.label, describe(n)))
		return
	}
	before := len(s.loader.faults)
	s.mapping(n, v, at)
	has := namesOfKinds(v)
	switch {
	case len(s.loader.faults) > before: // the kind may be what was misspelt
	case len(has) == 0:
		s.fail(n, at.key, fmt.Errorf("%s has no kind, want one of %s", at.label, strings.Join(kinds, ", ")))
	case len(has) > 1:
		s.fail(n, at.key, fmt.Errorf("%s is %s, want one kind", at.label, strings.Join(has, " and ")))
	}
}

// namesOfKinds returns the names of the kinds that an item has.
func namesOfKinds(item reflect.Value) []string {
	var names []string
	for _, f := range keys.KindsOf(item) {
		names = append(names, f.Name)
	}
	return names
}

// bareKind makes v an item of the kind that a word names, without options.
func (s *source) bareKind(n ast.Node, v reflect.Value, at keyPath, kinds []string) {
	word := scalarText(n)
	for _, f := range keys.Of(v) {
		if f.Name == word && keys.IsKind(f.Value.Type()) {
			f.Value.Set(keys.New(f.Value.Type().Elem()).Addr())
			return
		}
	}
	if _, ok := n.(*ast.NullNode); ok {
		s.fail(n, at.key, fmt.Errorf("%s is empty, want one of %s", at.label, strings.Join(kinds, ", ")))
		return
	}
	if near := phrase.Nearest(word, kinds); near != "" {
		s.fail(n, at.key, fmt.Errorf("%s is %s, which is no kind (did you mean %q?)", at.label, abbreviated(word), near))
		return
	}
	s.fail(n, at.key, fmt.Errorf("%s is %s, want one of %s", at.label, describe(n), strings.Join(kinds, ", ")))
}

// kind puts the options of a kind into f, a field of an item.
func (s *source) kind(n ast.Node, f reflect.Value, at keyPath) {
	options := keys.New(f.Type().Elem())
	s.mapping(n, options, at) // null: a kind without options
	f.Set(options.Addr())
}

func isMapping(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// pairsOf returns the pairs of a YAML mapping, none of another node.
func pairsOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// firstNode returns the node at which n begins: the first key of a mapping on several lines.
func firstNode(n ast.Node) ast.Node {
	if m, ok := n.(*ast.MappingNode); ok && m.IsFlowStyle {
		return n
	}
	if pairs := pairsOf(n); len(pairs) > 0 {
		return pairs[0].Key
	}
	return n
}

// writtenName returns the name of an item in the file, "" for none.
func writtenName(n ast.Node) string {
	for _, p := range pairsOf(n) {
		if p.Key.GetToken().Value == "name" && isPlain(p.Value) {
			if _, ok := p.Value.(*ast.NullNode); !ok {
				return scalarText(p.Value)
			}
		}
	}
	return ""
}
