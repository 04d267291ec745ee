package job

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/optimizer"
)

// TestAbout verifies that each key has a text that ends as a sentence does.
func TestAbout(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range texts {
		if !strings.HasSuffix(k.Text, ".") {
			t.Errorf("text of %s is %q, want a sentence", k.Key, k.Text)
		}
	}
}

// TestAboutNames verifies which names About takes: keys, groups, and no others.
func TestAboutNames(t *testing.T) {
	for name, want := range map[string]int{"input.batch": 1, "train.average": 3, "input.eval.files": 1, "input.columns.numeric": 8,
		"input.columns.2.numeric.default": 1, "model.layers.stem.conv2d.filters": 1, "model.layers.relu": 1, "input.evals.name": 1, "input.evals.day2.files": 1,
	} {
		if got, err := About(name); len(got) != want || err != nil {
			t.Errorf("About(%q) has %d keys, %v, want %d", name, len(got), err, want)
		}
	}
	for name, want := range map[string]string{"input.bach": `did you mean "input.batch"?`, "trian": `did you mean "train"?`, "inpu": `did you mean "input"?`,
		"input.columns.numeric.defualt": `did you mean "input.columns.numeric.default"?`, "model.layers.0.dense.unitz": `did you mean "model.layers.dense.units"?`,
	} {
		if _, err := About(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("About(%q) = %v, want %s", name, err, want)
		}
	}
}

// A baseJob is a job in which some keys have a meaning.
type baseJob struct {
	name string
	sets []string
}

// baseJobs returns jobs, in one of which at least each key has a meaning.
func baseJobs() []baseJob {
	files := func(format, rest string) []string {
		var sets []string
		for _, group := range []string{"input.train.", "input.eval."} {
			for _, set := range strings.Fields("format=" + format + " images= labels= " + rest) {
				sets = append(sets, group+set)
			}
		}
		return sets
	}
	all := []baseJob{
		{"mnist", nil}, {"ctr", nil},
		{"mnist", []string{"model.kind=mlp", "model.hidden=[4]"}},
		{"ctr", []string{"model.kind=dcn", "model.hidden=[4]"}},
		{"ctr", files("libffm", "ids= values= label=")},
		{"mnist", []string{"schedule.kind=exponential"}},
		{"mnist", append(files("images", "images=a"), "input.shape=[28, 28, 1]")},
		{"mnist", append(files("csv", "files=[a]"), "input.columns=[{label: {names: [y]}}, {numeric: {names: [x]}}]")},
		{"mnist", []string{"input.shape=[4]", "input.synthetic=true"}},
		{"mnist", []string{"train.class_weights=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"}},
	}
	for _, optimizer := range optimizer.Names() {
		all = append(all, baseJob{"ctr", []string{"optimizer.name=" + optimizer}})
	}
	return all
}

// wants returns what the job wants instead of a value of a key, "" if it takes the value.
func (b baseJob) wants(key, value string) string {
	_, err := Load(b.name, nil, append(slices.Clone(b.sets), key+"="+value))
	if err == nil {
		return ""
	}
	for line := range strings.Lines(err.Error()) {
		_, want, ok := strings.Cut(line, " want ")
		if strings.HasPrefix(want, "one for each of") {
			continue // the number of items is another matter
		}
		if at := strings.Index(line, key); ok && at >= 0 && !strings.HasPrefix(line[at+len(key):], ".") {
			return strings.TrimSpace(want)
		}
	}
	return ""
}

var (
	aWord   = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	between = regexp.MustCompile(`^(\d+) to (\d+)$`)
	atLeast = regexp.MustCompile(`^(\d+)((?:[KM]iB)?) or more$`)
)

// limits returns values of a key just outside its range and just inside, none if they are words. 0 stands
// for the default.
func limits(t *testing.T, k KeyText) (outside, inside []string) {
	t.Helper()
	values := string(k.values)
	if values == "1 or more" && k.Default != "" {
		return []string{"-1"}, []string{"1"}
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if m := between.FindStringSubmatch(values); m != nil {
		below := number(m[1]) - 1
		if below == 0 && k.List != "" && k.Default != "" { // of an option that is left out
			below = -1
		}
		return []string{fmt.Sprint(below), fmt.Sprint(number(m[2]) + 1)}, m[1:]
	}
	if m := atLeast.FindStringSubmatch(values); m != nil {
		if m[2] == "" {
			return []string{fmt.Sprint(number(m[1]) - 1)}, []string{m[1]}
		}
		return []string{fmt.Sprint(number(m[1])<<map[string]int{"KiB": 10, "MiB": 20}[m[2]] - 1)}, []string{m[1] + m[2]}
	}
	switch values {
	case "above 0":
		return []string{"0", "-1"}, []string{"0.001"}
	case "above 0 and at most 1":
		return []string{"0", "1.001"}, []string{"0.001", "1"}
	case "above 0 and below 1":
		return []string{"0", "1"}, []string{"0.001", "0.999"}
	case "0 or more and below 1":
		return []string{"-0.001", "1"}, []string{"0", "0.999"}
	case "0 or less":
		return []string{"0.001"}, []string{"0", "-1"}
	}
	return nil, nil
}

// TestAboutValues verifies what About says of values: a job refuses those just outside a range and takes
// those at its ends, and the words are those that an error wants instead of another.
func TestAboutValues(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	jobs := baseJobs()
	for _, k := range texts {
		values := string(k.values)
		outside, inside := limits(t, k)
		if k.List != "" || k.Key == "model.layers" || k.Key == "input.columns" || strings.HasPrefix(k.Key, "input.eval.") || k.Takes == "true or false" {
			continue
		}
		key := k.Key
		if key == "optimizer.learning_rates" {
			key += ".sgd"
		}
		held := slices.ContainsFunc(jobs, func(b baseJob) bool {
			refuses := func(value string) bool { return b.wants(key, value) != "" }
			if outside != nil {
				return !slices.ContainsFunc(outside, func(v string) bool { return !refuses(v) }) && !slices.ContainsFunc(inside, refuses)
			}
			wants := b.wants(key, "no-such-word")
			if wants == "" && strings.HasSuffix(values, " a folder") {
				return true // any text is one
			}
			return (wants == "") == (k.Takes == "text" || strings.HasPrefix(k.Takes, "list: text")) && slices.Equal(words(values, ""), words(wants, k.Default))
		})
		if !held {
			var wants []string
			for _, b := range jobs {
				wants = append(wants, b.wants(k.Key, "no-such-word"))
			}
			t.Errorf("%s takes %q, which no job does: outside %q, inside %q, a job wants one of %q", k.Key, values, outside, inside, slices.Compact(wants))
		}
	}
}

// itemJobs has lists for kinds with options that take some values. The item is the first of input.columns, and
// that called it of model.layers.
var itemJobs = map[string][]string{
	"input.columns.label":       {"[{label: {names: [y]}}, {numeric: {names: [x]}}]"},
	"input.columns.weight":      {"[{weight: {names: [y]}}, {numeric: {names: [x]}}]"},
	"input.columns.numeric":     {"[{numeric: {names: [x]}}]"},
	"input.columns.categorical": {"[{categorical: {names: [x], hash: 3}}]", "[{categorical: {names: [x], vocabulary: auto}}]"},
	"input.columns.text":        {"[{text: {names: [x], hash: 3}}]"},
	"input.columns.time":        {"[{time: {names: [x]}}, {categorical: {names: [y], hash: 3}}]"},
	"input.columns.ids":         {"[{ids: {names: [x], size: 3}}]"},
	"input.columns.cross":       {"[{cross: {of: [x, y], hash: 3}}, {categorical: {names: [x, y], vocabulary: auto, unknown: error}}]"},
	"model.layers.dense":        {"[flatten, {name: it, dense: {units: 2}}, dense: {units: 1}]"},
	"model.layers.conv2d":       {"[{name: it, conv2d: {filters: 1, kernel: 1}}, flatten, dense: {units: 1}]"},
	"model.layers.max_pool2d":   {"[{name: it, max_pool2d: {}}, flatten, dense: {units: 1}]"},
	"model.layers.avg_pool2d":   {"[{name: it, avg_pool2d: {}}, flatten, dense: {units: 1}]"},
	"model.layers.leaky_relu":   {"[flatten, {name: it, leaky_relu: {}}, dense: {units: 1}]"},
	"model.layers.dropout":      {"[flatten, {name: it, dropout: {}}, dense: {units: 1}]"},
	"model.layers.layer_norm":   {"[flatten, {name: it, layer_norm: {}}, dense: {units: 1}]"},
	"model.layers.sparse":       {"[{name: it, sparse: {}}, dense: {units: 1}]"},
	"model.layers.embedding":    {"[{name: it, embedding: {size: 2}}, fm, dense: {units: 1}]"},
	"model.layers.fm":           {"[embedding: {size: 2}, {name: it, fm: {}}, dense: {units: 1}]"},
	"model.layers.cross":        {"[flatten, {name: it, cross: {}, in: [flatten, flatten]}, dense: {units: 1}]"},
}

// takesItem reports whether a job with a list, and its model, take a value of an option of the item.
func takesItem(t *testing.T, list, items, option, value string) bool {
	t.Helper()
	base, sets, in := "mnist", []string{"model.kind=", "model.classes=0", "loss.kind=sigmoid"}, model.Inputs{Dense: graph.Shape{8, 8, 1}}
	if strings.Contains(items, "sparse") || strings.Contains(items, "embedding") {
		base, sets, in = "ctr", []string{"model.kind="}, model.Inputs{IDs: 8}
	}
	place := ".it."
	if list == "input.columns" {
		place = ".0."
		sets = []string{"model.kind=linear", "model.classes=0"} // a label may be scaled
		for _, group := range []string{"input.train.", "input.eval."} {
			sets = append(sets, group+"format=csv", group+"images=", group+"labels=", group+"files=[a]")
		}
	}
	load := func(more ...string) error {
		cfg, err := Load(base, nil, slices.Concat(sets, []string{list + "=" + items}, more))
		if err == nil && list == "model.layers" {
			_, err = cfg.Model.GraphOf(in, cfg.Loss)
		}
		return err
	}
	if err := load(); err != nil {
		t.Fatalf("%s: %v", items, err)
	}
	return load(list+place+option+"="+value) == nil
}

// TestAboutItemValues verifies what About says of the values of options of items: a job, or its model, refuses
// those just outside a range and other words, and takes those at the ends of the range and each word.
func TestAboutItemValues(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range texts {
		values := string(k.values)
		if k.List == "" || k.List == "input.evals" || values == "" {
			continue
		}
		kind, option, _ := strings.Cut(strings.TrimPrefix(k.Key, k.List+"."), ".")
		outside, inside := limits(t, k)
		if outside == nil {
			inside = words(values, "")
			if !strings.Contains(values, "a file") {
				outside = []string{"no-such-word"}
			}
		}
		if !slices.ContainsFunc(itemJobs[k.List+"."+kind], func(items string) bool {
			takes := func(value string) bool { return takesItem(t, k.List, items, kind+"."+option, value) }
			return !slices.ContainsFunc(outside, takes) && !slices.ContainsFunc(inside, func(v string) bool { return !takes(v) })
		}) {
			t.Errorf("%s takes %q, which no job does: outside %q, inside %q", k.Key, values, outside, inside)
		}
	}
}

// words returns the words of a list and its default, up to the description of other values, in order.
func words(list, standard string) []string {
	if strings.Contains(list, "number") || strings.HasPrefix(list, "a ") || strings.HasPrefix(list, "ASCII") {
		return nil
	}
	list, _, _ = strings.Cut(strings.TrimPrefix(list, "one of "), ", or ")
	all := strings.Fields(strings.NewReplacer(",", " ", " or ", " ").Replace(list))
	if all != nil {
		all = append(all, standard)
	}
	all = slices.DeleteFunc(all, func(w string) bool { return w == "to" || !aWord.MatchString(w) })
	slices.Sort(all)
	return slices.Compact(all)
}

// TestBoundsOfReaders verifies the ranges and defaults that a tag repeats because readers have them as
// constants.
func TestBoundsOfReaders(t *testing.T) {
	for key, want := range map[string]KeyText{
		"input.max_features":             {Takes: fmt.Sprintf("whole number, 1 to %d", input.MaxFeatures), Default: fmt.Sprint(input.DefaultMaxFeatures)},
		"model.features":                 {Takes: fmt.Sprintf("whole number, 0 to %d", input.MaxFeatures), Default: "0"},
		"input.columns.categorical.hash": {Takes: fmt.Sprintf("whole number, 1 to %d", input.MaxFeatures)},
		"input.max_inflate":              {Takes: "bytes, " + Size(input.DefaultMaxInflate).short() + " or more", Default: Size(input.DefaultMaxInflate).short()},
	} {
		texts, err := About(key)
		if err != nil || len(texts) != 1 || texts[0].Takes != want.Takes || texts[0].Default != want.Default {
			t.Errorf("%s: %+v, %v, want %q and default %q", key, texts, err, want.Takes, want.Default)
		}
	}
}
