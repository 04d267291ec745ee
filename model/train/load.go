package train

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"ringtrain/ring/exitcode"
)

//go:embed jobs/*.yaml
var builtin embed.FS

// BuiltinJobs returns the names of the jobs that come with ringtrain.
func BuiltinJobs() []string {
	entries, err := fs.ReadDir(builtin, "jobs")
	if err != nil {
		panic("train: built-in jobs are missing")
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// BuiltinJob returns the file of a built-in job.
func BuiltinJob(name string) ([]byte, bool) {
	b, err := builtin.ReadFile(path.Join("jobs", name+".yaml"))
	return b, err == nil
}

// IsJob tells whether word names a job: a built-in one, or a .yaml or .yml file.
func IsJob(word string) bool {
	_, ok := BuiltinJob(word)
	return ok || strings.HasSuffix(word, ".yaml") || strings.HasSuffix(word, ".yml")
}

// LoadJob reads the job that name stands for, a built-in one or a file, then
// the environment's RINGTRAIN_ variables, then sets ("key=value"): the later
// one wins. All faults are reported at once, those of the file with line and
// column. They carry exitcode.Usage.
func LoadJob(name string, environ, sets []string) (*Job, error) {
	text, ok := BuiltinJob(name)
	if !ok {
		var err error
		if text, err = os.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
			return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("%s: no such job file, and no built-in job (%s)",
				name, strings.Join(BuiltinJobs(), ", ")))
		} else if err != nil {
			return nil, exitcode.With(exitcode.NoInput, err)
		}
	}
	job := DefaultJob()
	l := loader{file: name, where: map[string]string{}}
	l.fromFile(text, &job)
	l.fromEnviron(environ, &job)
	l.fromSets(sets, &job)
	if len(l.errs) == 0 {
		l.errs = l.locate(job.Check())
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return &job, nil
}

// loader collects the faults of all sources of options.
type loader struct {
	file  string
	where map[string]string // key → the place that set it
	errs  []error
}

func (l *loader) fail(at, format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

func (l *loader) fromFile(text []byte, job *Job) {
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		l.errs = append(l.errs, syntaxError(l.file, err))
		return
	}
	for _, doc := range f.Docs {
		if doc.Body != nil {
			l.mapping(doc.Body, reflect.ValueOf(job).Elem(), "")
		}
	}
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
	p := n.GetToken().Position
	return fmt.Sprintf("%s:%d:%d", l.file, p.Line, p.Column)
}

// mapping puts the pairs of a YAML mapping into the struct or map v.
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
		l.fail(l.at(n), "%s is %s, want a mapping", orJob(prefix), n)
		return
	}
	for _, p := range pairs {
		name := p.Key.GetToken().Value
		key := join(prefix, name)
		field, err := child(v, prefix, name)
		if err != nil {
			l.fail(l.at(p.Key), "%v", err)
			continue
		}
		if isGroup(field) {
			l.mapping(p.Value, field, key)
			continue
		}
		l.where[key] = l.at(p.Key)
		l.leaf(field, p.Value, key, l.at(p.Value), v, name)
	}
}

// leaf sets one field, or the entry name of the map parent.
func (l *loader) leaf(field reflect.Value, n ast.Node, key, at string, parent reflect.Value, name string) {
	if err := setLeaf(field, n); err != nil {
		l.fail(at, "%s %v", key, err)
		return
	}
	if parent.Kind() == reflect.Map {
		if parent.IsNil() {
			parent.Set(reflect.MakeMap(parent.Type()))
		}
		parent.SetMapIndex(reflect.ValueOf(name), field)
	}
}

func (l *loader) fromSets(sets []string, job *Job) {
	for _, s := range sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			l.fail("--set "+s, "want key=value")
			continue
		}
		l.set(job, key, value, "--set "+key)
	}
}

// set puts value, in the form of a job file, at key.
func (l *loader) set(job *Job, key, value, source string) {
	parent := reflect.ValueOf(job).Elem()
	prefix, names := "", strings.Split(key, ".")
	for i, name := range names {
		field, err := child(parent, prefix, name)
		if err != nil {
			l.fail(source, "%v", err)
			return
		}
		last := i == len(names)-1
		if last != !isGroup(field) {
			l.fail(source, "%s is not an option but a group of options", key)
			return
		}
		if !last {
			parent, prefix = field, join(prefix, name)
			continue
		}
		node, err := parseValue(field, value)
		if err != nil {
			l.fail(source, "%s is %s: %v", key, value, err)
			return
		}
		l.where[key] = source
		l.leaf(field, node, key, source, parent, name)
	}
}

// locate puts the place in the file that set a key before each error that
// begins with it.
func (l *loader) locate(err error) []error {
	errs := flatten(err)
	for i, e := range errs {
		key, _, _ := strings.Cut(e.Error(), " ")
		if at, ok := l.where[key]; ok && strings.HasPrefix(at, l.file) {
			errs[i] = fmt.Errorf("%s: %w", at, e)
		}
	}
	return errs
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	type many interface {
		error
		Unwrap() []error
	}
	if err == nil {
		return nil
	}
	joined, ok := errors.AsType[many](err)
	if !ok {
		return []error{err}
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		errs = append(errs, flatten(e)...)
	}
	return errs
}

func orJob(prefix string) string {
	if prefix == "" {
		return "the job"
	}
	return prefix
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// File returns the job in the form of a job file, with every key that has a
// value.
func (j *Job) File() ([]byte, error) {
	return yaml.MarshalWithOptions(j, yaml.Flow(false), yaml.IndentSequence(true))
}
