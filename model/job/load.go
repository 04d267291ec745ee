package job

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// Load reads the job called name, a built-in job or a file, then the RINGTRAIN_ variables of the
// environment, then sets ("key=value"). A later source overrides an earlier one. Load reports all
// faults at once, those of the file with line and column. They carry exitcode.Usage; a missing file
// carries exitcode.NoInput.
func Load(name string, environ, sets []string) (*Config, error) {
	text, ok := Builtin(name)
	if !ok {
		var err error
		if text, err = readJobFile(name); err != nil {
			return nil, err
		}
	}
	return loadText(newLoader(name), text, environ, sets)
}

// LoadStored is Load of the text of a job file that a checkpoint or a bundle keeps. It skips keys that are gone.
func LoadStored(name string, text []byte, environ, sets []string) (*Config, error) {
	l := newLoader(name)
	l.stored = true
	return loadText(l, text, environ, sets)
}

// loadText is Load of the text of a job file.
func loadText(l loader, text []byte, environ, sets []string) (*Config, error) {
	job := Default()
	root := reflect.ValueOf(&job).Elem()
	readable := l.fromFile(text, root)
	l.fromEnviron(environ, root)
	l.fromSets(sets, root)
	job.Model.Classes = job.Model.Classes.OrNone()
	if readable {
		l.inherit(&job.Input)
		l.check(&job)
	}
	if err := l.faults.err(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	job.places = l.placesInLists(root)
	return &job, nil
}

// Parse reads the text of a job file that a checkpoint keeps. Errors call it name. Parse skips keys that
// are gone, and does not check the job as a whole. It returns no job if the text is no YAML.
func Parse(name string, text []byte) (*Config, error) {
	job := Default()
	l := newLoader(name)
	l.stored = true
	if !l.fromFile(text, reflect.ValueOf(&job).Elem()) {
		return nil, l.faults.err()
	}
	return &job, l.faults.err()
}

func readJobFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		known := strings.Join(BuiltinNames(), ", ")
		if near := Near(name, true); near != "" {
			known = "did you mean " + near + "?"
		}
		err = fmt.Errorf("%s: no such job file, and no built-in job (%s)", name, known)
	}
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJobFile+1))
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	if kind, err := input.Compression(name, text, false); err != nil {
		return nil, exitcode.With(exitcode.Usage, errors.New(err.Error())) // not the code of data
	} else if kind != "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is %s, want a job file", name, kind))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil // a byte order mark
}

// loader collects the faults of all sources of options.
type loader struct {
	file    string
	stored  bool              // the file may have keys of earlier versions
	places  map[string]string // key, or group of keys → place that set it last; "" for --set
	said    map[string]bool   // keys that have a value from any source, also their default
	suspect map[string]bool   // keys and groups with a fault
	faults  faults
}

func newLoader(file string) loader {
	return loader{file: file, places: map[string]string{}, said: map[string]bool{}, suspect: map[string]bool{}}
}

// fail reports a fault at a place and marks its key or group as suspect. An unknown name is a fault of
// its group.
func (l *loader) fail(at, key string, err error) {
	if u, ok := errors.AsType[unknownKey](err); ok {
		key = join(key, u.suggestion())
	}
	l.suspect[key] = true
	l.faults.add("%s: %w", at, err)
}

func (l *loader) fromSets(sets []string, root reflect.Value) {
	for _, s := range sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			l.faults.add("--set %s: want key=value", s)
			continue
		}
		l.set(root, key, value, "--set "+key, "")
	}
}

// set puts value, in the form of a job file, at key. An error of set names source. A fault of the value
// that is found later names where.
func (l *loader) set(root reflect.Value, key, value, source, where string) {
	v, at := root, keyPath{}
	names := strings.Split(key, ".")
	for i, name := range names {
		f, next, err := descend(v, at, name)
		if err != nil {
			l.fail(source, at.key, err)
			return
		}
		list := keys.IsList(f.Type())
		switch last := i == len(names)-1; {
		case last && keys.IsGroup(f):
			l.fail(source, next.key, fmt.Errorf("%s is a group of keys, want one of them", next.label))
			return
		case !last && !keys.IsGroup(f) && !list:
			l.fail(source, next.key, fmt.Errorf("%s is a key, not a group of keys", next.label))
			return
		case !last:
			v, at = f, next
			continue
		}
		if err := l.setText(f, next, value, source); err != nil {
			l.fail(source, next.key, fmt.Errorf("%s %w", next.label, err))
			return
		}
		setEntry(v, name, f)
		l.places[next.key], l.said[next.key] = where, true
	}
}

// setText puts value into f, a value or a list at a path.
func (l *loader) setText(f reflect.Value, at keyPath, value, place string) error {
	node, err := parseValue(f, value)
	if err != nil || !keys.IsList(f.Type()) {
		if err == nil {
			err = setLeaf(f, node)
		}
		return err
	}
	maps.DeleteFunc(l.places, func(key, _ string) bool { return strings.HasPrefix(key, at.key+".") })
	maps.DeleteFunc(l.said, func(key string, _ bool) bool { return strings.HasPrefix(key, at.key+".") })
	text := source{loader: l, at: func(ast.Node) string { return place }}
	text.items(node, f, at)
	return nil
}

// check adds the faults of the job as a whole, each with its place. It leaves out faults that may follow
// from an earlier fault.
func (l *loader) check(job *Config) {
	for _, err := range flatten(job.Check()) {
		key := keyOfFault(reflect.ValueOf(job).Elem(), err)
		if l.isSuspect(key) || key == "model.kind" && l.isSuspect("model.layers") { // model.layers replaces model.kind
			continue
		}
		if at := l.place(key); at != "" {
			err = fmt.Errorf("%s: %w", at, err)
		}
		l.faults = append(l.faults, err)
	}
}

// keyOfFault returns the canonical key of a check's error.
func keyOfFault(root reflect.Value, err error) string {
	if layer, ok := errors.AsType[*model.LayerError](err); ok {
		return fmt.Sprintf("model.layers.%d", layer.Item)
	}
	return canonical(root, subject(err))
}

// subject returns the key at the beginning of a check's error.
func subject(err error) string {
	key, _, _ := strings.Cut(err.Error(), " ")
	key, _, _ = strings.Cut(strings.TrimRight(key, ",:"), "[")
	return key
}

// isSuspect reports whether key or a group around it has a fault.
func (l *loader) isSuspect(key string) bool {
	for ok := true; ok; key, ok = parent(key) {
		if l.suspect[key] {
			return true
		}
	}
	return false
}

// place returns the place where key was set, or else that of the nearest group around it.
func (l *loader) place(key string) string {
	for ok := true; ok; key, ok = parent(key) {
		if at, ok := l.places[key]; ok {
			return at
		}
	}
	return l.file
}

// flatten returns the errors that were joined to err. A text around them belongs to each: they stay one.
func flatten(err error) []error {
	type many interface {
		error
		Unwrap() []error
	}
	if err == nil {
		return nil
	}
	joined, ok := errors.AsType[many](err)
	if !ok || joined.Error() != err.Error() {
		return []error{err}
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		errs = append(errs, flatten(e)...)
	}
	return errs
}
