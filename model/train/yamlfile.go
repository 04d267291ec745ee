package train

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// fromFile takes the keys of a job file. It returns false if the file cannot be
// read as YAML.
func (l *loader) fromFile(text []byte, job *Job) bool {
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		l.faults = append(l.faults, syntaxError(l.file, err))
		return false
	}
	bodies := 0
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if bodies++; bodies > 1 {
			l.fail(l.at(doc.Body), "", errors.New("a second document, want one"))
			return false
		}
		l.mapping(doc.Body, reflect.ValueOf(job).Elem(), "")
	}
	return true
}

// syntaxError puts the parser's message on one line behind the place.
func syntaxError(file string, err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) {
		if t := ye.GetToken(); t != nil && t.Position != nil {
			return fmt.Errorf("%s:%d:%d: %s", file, t.Position.Line, t.Position.Column, ye.GetMessage())
		}
	}
	return fmt.Errorf("%s: %s", file, strings.SplitN(err.Error(), "\n", 2)[0])
}

// at is the place of a node: file, line, column.
func (l *loader) at(n ast.Node) string {
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return l.file
	}
	return fmt.Sprintf("%s:%d:%d", l.file, t.Position.Line, t.Position.Column)
}

// mapping puts the pairs of a YAML mapping into the struct or map v, which is
// the group of keys called prefix.
func (l *loader) mapping(n ast.Node, v reflect.Value, prefix string) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.NullNode:
		return
	default:
		l.fail(l.at(n), prefix, fmt.Errorf("%s is %s, want a mapping of keys", orJob(prefix), described(n)))
		return
	}
	for _, p := range pairs {
		l.pair(p, v, prefix)
	}
}

// pair puts one pair of a mapping into v.
func (l *loader) pair(p *ast.MappingValueNode, v reflect.Value, prefix string) {
	name := p.Key.GetToken().Value
	key := join(prefix, name)
	field, err := child(v, prefix, name)
	if err != nil {
		l.fail(l.at(p.Key), prefix, err)
		return
	}
	l.where[key] = l.at(p.Key)
	if isGroup(field) {
		l.mapping(p.Value, field, key)
		return
	}
	if err := setLeaf(field, p.Value); err != nil {
		l.fail(l.at(p.Value), key, fmt.Errorf("%s %w", key, err))
		return
	}
	store(v, name, field)
}

func orJob(prefix string) string {
	if prefix == "" {
		return "the job"
	}
	return prefix
}
