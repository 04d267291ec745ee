package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/model/job"
)

// TestReadmeKeys verifies the manual's tables of keys against the job: each key has its row,
// each row is a key, the bold word is the default, and the listed words are those that
// the key accepts.
func TestReadmeKeys(t *testing.T) {
	rows := keyRows(t, docSection(t, "reference", "How gradients travel")+docSection(t, "reference", "Keys of a job"))
	defaults, documented := map[string]string{}, map[string]bool{}
	cfg := job.Default()
	for _, o := range append(cfg.Options(), job.Option{Key: "optimizer.learning_rates.NAME"}) {
		defaults[o.Key] = o.Value
	}
	for _, r := range rows {
		if _, ok := defaults[r.key]; !ok || documented[r.key] {
			t.Errorf("docs/reference.md: a row has %s, want a key, and each once", r.key)
			continue
		}
		documented[r.key] = true
		r.checkDefault(t, defaults[r.key])
		r.checkWords(t)
	}
	for key := range defaults {
		if !documented[key] {
			t.Errorf("docs/reference.md: no row has %s", key)
		}
	}
}

// A keyRow is the description of a key in a table.
type keyRow struct {
	key    string
	values string // that it takes: "**mean** sum"
}

var (
	inBackticks = regexp.MustCompile("`([^`]+)`")
	bold        = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	aWord       = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	aside       = regexp.MustCompile(`\([^)]*\)`)
	wanted      = regexp.MustCompile(`want (?:one of )?([a-z][^\n]*)`)
)

// keyRows parses the rows of the tables of keys. A row has one key or several. Of
// several keys, those after the first are siblings of it (`schedule.steps`, `.end`), and
// their values are separated by semicolons, or the same for all. Rows that begin with a
// dash belong to the groups named above them (`input.train.*`).
func keyRows(t *testing.T, text string) []keyRow {
	t.Helper()
	var rows []keyRow
	var groups []string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(line, "| \n"), "|")
		var names []string
		for _, m := range inBackticks.FindAllStringSubmatch(cells[0], -1) {
			names = append(names, m[1])
		}
		if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| – `") {
			continue
		}
		if strings.HasSuffix(names[0], ".*") {
			groups = names
			continue
		}
		parents := groups
		if !strings.HasPrefix(names[0], ".") {
			parents = []string{names[0][:strings.LastIndexByte("."+names[0], '.')] + "*"}
		}
		values := strings.Split(strings.TrimSpace(cells[1]), "; ")
		if len(values) != 1 && len(values) != len(names) {
			t.Errorf("docs/reference.md: %d keys and %d values: %s", len(names), len(values), line)
			continue
		}
		for _, parent := range parents {
			for i, name := range names {
				if below, ok := strings.CutPrefix(name, "."); ok {
					name = strings.TrimSuffix(parent, "*") + below
				}
				rows = append(rows, keyRow{name, values[min(i, len(values)-1)]})
			}
		}
	}
	return rows
}

// loaded returns a job that has the key, with the key set to value.
func (r keyRow) loaded(value string) (*job.Config, error) {
	name, sets := "mnist", []string{}
	switch {
	case slices.Contains([]string{"model.embedding", "model.pooling", "model.cross"}, r.key):
		name, sets = "ctr", []string{"model.kind=dcn", "model.hidden=[4]"}
	case strings.HasPrefix(r.key, "model."):
		sets = []string{"model.kind=mlp", "model.hidden=[4]"}
	case strings.HasSuffix(r.key, ".header") || strings.HasSuffix(r.key, ".separator"):
		sets = []string{"input.columns=[{label: {names: [y]}}, {numeric: {names: [x]}}]"}
		for _, group := range []string{"input.train.", "input.eval."} {
			sets = append(sets, group+"format=csv", group+"images=", group+"labels=", group+"files=[a]")
		}
	case inRecords.MatchString(r.key):
		name = "ctr"
	}
	return job.Load(name, nil, append(sets, r.key+"="+value))
}

// inRecords matches the keys of formats with named features or many files.
var inRecords = regexp.MustCompile(`^input\.(train|eval)\.(files|label|ids|values|compression)$`)

// checkDefault verifies that the default is bold, if the job has one.
func (r keyRow) checkDefault(t *testing.T, want string) {
	t.Helper()
	m := bold.FindStringSubmatch(r.values)
	if m == nil && (want == "" || want == "[]") {
		return
	}
	if _, err := r.loaded(want); m == nil && err != nil {
		return // the model requires another value
	}
	if m == nil {
		t.Errorf("docs/reference.md: no default of %s is bold, want %s", r.key, want)
		return
	}
	cfg, err := r.loaded(m[1])
	if err != nil {
		t.Errorf("docs/reference.md: %s has the default %s, which is no value: %v", r.key, m[1], err)
		return
	}
	for _, o := range cfg.Options() {
		if o.Key == r.key && want != "" && o.Value != want {
			t.Errorf("docs/reference.md: %s has the default %s, want %s", r.key, m[1], want)
		}
	}
}

// checkWords compares the words of a key with those in the error for another value.
func (r keyRow) checkWords(t *testing.T) {
	t.Helper()
	_, err := r.loaded("no-such-word")
	if err == nil {
		return // the key accepts any text
	}
	var takes []string
	if m := wanted.FindStringSubmatch(err.Error()); m != nil && !strings.Contains(m[1], "number") && !strings.HasPrefix(m[1], "a mapping") {
		takes = words(m[1])
	}
	said := words(aside.ReplaceAllString(strings.ReplaceAll(r.values, "**", ""), ""))
	if m := bold.FindStringSubmatch(r.values); m != nil && aWord.MatchString(m[1]) && !slices.Contains(takes, m[1]) {
		takes = append(takes, m[1]) // checkDefault has verified that it is a value
	}
	slices.Sort(said)
	slices.Sort(takes)
	if !slices.Equal(said, takes) {
		t.Errorf("docs/reference.md: %s takes %q, want %q (%v)", r.key, said, takes, err)
	}
}

// words returns the words of a list, up to the description of other values.
func words(list string) []string {
	list, _, _ = strings.Cut(list, ", or ")
	list = strings.NewReplacer(",", " ", " or ", " ").Replace(list)
	return slices.DeleteFunc(strings.Fields(list), func(w string) bool { return w == "to" || !aWord.MatchString(w) })
}

// TestReadmeLayers verifies the manual's table of layers against model.Layer: each kind has
// its row, and the row has each option of the kind.
func TestReadmeLayers(t *testing.T) {
	rows := map[string]string{} // kind → options
	for line := range strings.Lines(docSection(t, "models", "Layers of your own")) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 2 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range inBackticks.FindAllStringSubmatch(cells[0], -1) {
			rows[m[1]] = cells[1]
		}
	}
	layer := reflect.TypeFor[model.Layer]()
	for i := range layer.NumField() {
		f := layer.Field(i)
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		kind := f.Tag.Get("yaml")
		options, ok := rows[kind]
		if !ok {
			t.Errorf("docs/reference.md: no row of the layers has %s", kind)
		}
		delete(rows, kind)
		for k := range f.Type.Elem().NumField() {
			if option := f.Type.Elem().Field(k).Tag.Get("yaml"); !strings.Contains(options, "`"+option+"`") {
				t.Errorf("docs/reference.md: the row of %s lacks the option %s", kind, option)
			}
		}
	}
	for kind := range rows {
		t.Errorf("docs/reference.md: %s is no layer", kind)
	}
}
