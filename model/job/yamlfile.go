package job

import (
	"ringtrain/model/keys"

	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// fromFile sets the keys of a job file. It returns false if the file is no YAML.
func (l *loader) fromFile(text []byte, root reflect.Value) bool {
	f, err := parseYAML(text)
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
		file := source{loader: l, at: l.at, record: true}
		file.mapping(doc.Body, root, keyPath{})
	}
	return true
}

// syntaxError returns the parser's message on one line, with its place.
func syntaxError(file string, err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) {
		if t := ye.GetToken(); t != nil && t.Position != nil {
			return fmt.Errorf("%s:%d:%d: %s", file, t.Position.Line, t.Position.Column, ye.GetMessage())
		}
	}
	return fmt.Errorf("%s: %s", file, strings.SplitN(err.Error(), "\n", 2)[0])
}

// at returns the place of a node: file, line, column.
func (l *loader) at(n ast.Node) string {
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return l.file
	}
	return fmt.Sprintf("%s:%d:%d", l.file, t.Position.Line, t.Position.Column)
}

// A source is the text that a YAML node is part of: the job file, or the text of one key.
type source struct {
	loader *loader
	at     func(n ast.Node) string // returns the place of a node
	record bool                    // the loader keeps the places of keys, for faults that are found later
}

func (s *source) fail(n ast.Node, key string, err error) { s.loader.fail(s.at(firstNode(n)), key, err) }

// setAt keeps the place where key is set.
func (s *source) setAt(key string, n ast.Node) {
	if s.record {
		s.loader.places[key] = s.at(n)
	}
}

// mapping puts the pairs of a YAML mapping into the struct or map v, the group of keys at a path.
func (s *source) mapping(n ast.Node, v reflect.Value, at keyPath) {
	_, empty := n.(*ast.NullNode)
	switch {
	case isMapping(n):
		for _, p := range pairsOf(n) {
			s.pair(p, v, at)
		}
	case empty:
	default:
		s.loader.fail(s.at(n), at.key, fmt.Errorf("%s is %s, want a mapping of keys", orJob(at.label), describe(n)))
	}
}

// pair puts one pair of a mapping into v.
func (s *source) pair(p *ast.MappingValueNode, v reflect.Value, at keyPath) {
	name := p.Key.GetToken().Value
	f, err := child(v, at.label, name)
	if err != nil && s.loader.stored && removedKey(join(at.key, name)) != "" {
		return
	}
	if err != nil {
		s.loader.fail(s.at(p.Key), at.key, err)
		return
	}
	at = at.join(name)
	s.setAt(at.key, p.Key)
	switch {
	case keys.IsKind(f.Type()):
		s.kind(p.Value, f, at)
	case keys.IsList(f.Type()):
		s.items(p.Value, f, at)
	case keys.IsGroup(f):
		s.mapping(p.Value, f, at)
	default:
		if err := setLeaf(f, p.Value); err != nil {
			s.loader.fail(s.at(p.Value), at.key, fmt.Errorf("%s %w", at.label, err))
			return
		}
		setEntry(v, name, f)
		_, empty := p.Value.(*ast.NullNode)
		s.loader.said[at.key] = !empty
	}
}

// orJob returns label, or "the job" for the job itself.
func orJob(label string) string {
	if label == "" {
		return "the job"
	}
	return label
}
