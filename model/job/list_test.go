package job

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/input/convert"
)

// listJob is a job with the two forms of lists of groups.
type listJob struct {
	Model struct {
		Layers []listLayer `yaml:"layers"`
		Init   string      `yaml:"init"`
	} `yaml:"model"`
	Input struct {
		Evals []listEval `yaml:"evals"`
	} `yaml:"input"`
}

type listLayer struct {
	Name   string      `yaml:"name"`
	In     []string    `yaml:"in"`
	Conv2D *listConv2D `yaml:"conv2d"`
	Dense  *listDense  `yaml:"dense"`
	ReLU   *struct{}   `yaml:"relu"`
	Add    *struct{}   `yaml:"add"`
}

type listConv2D struct {
	Filters int      `yaml:"filters"`
	Padding string   `yaml:"padding"`
	Slope   *float64 `yaml:"slope"`
	Sizes   []int    `yaml:"sizes"`
}

type listDense struct {
	Units   int  `yaml:"units"`
	UseBias bool `yaml:"use_bias" default:"true"`
}

type listEval struct {
	Name  string `yaml:"name"`
	Files        // its keys stand beside the name
}

// loadLists loads text, variables and sets into a listJob job, and returns all faults.
func loadLists(text string, environ, sets []string) (*listJob, *loader, []string) {
	var job listJob
	l := newLoader("job.yaml")
	root := reflect.ValueOf(&job).Elem()
	l.fromFile([]byte(text), root)
	l.fromEnviron(environ, root)
	l.fromSets(sets, root)
	l.faults = append(l.faults, checkNames(root)...)
	var faults []string
	for _, err := range l.faults {
		faults = append(faults, err.Error())
	}
	return &job, &l, faults
}

const residual = `model:
  layers:
    - {name: stem, conv2d: {filters: 16, padding: same}}
    - relu
    - name: b
      conv2d:
        filters: 8
    - {name: sum, in: [stem, b], add: {}}
    - add:
    - dense: {units: 10}
`

// residualWith returns the layers of residual after a change.
func residualWith(change func(l []listLayer) []listLayer) []listLayer {
	return change([]listLayer{
		{Name: "stem", Conv2D: &listConv2D{Filters: 16, Padding: "same"}},
		{ReLU: &struct{}{}},
		{Name: "b", Conv2D: &listConv2D{Filters: 8}},
		{Name: "sum", In: []string{"stem", "b"}, Add: &struct{}{}},
		{Add: &struct{}{}},
		{Dense: &listDense{Units: 10, UseBias: true}},
	})
}

// TestLists verifies that a list of kinds means the same from the file, the
// environment and --set, and that an option of one item is set by name and by number.
func TestLists(t *testing.T) {
	slope := 0.5
	same := func(l []listLayer) []listLayer { return l }
	two := func([]listLayer) []listLayer {
		return []listLayer{{ReLU: &struct{}{}}, {Name: "d", Dense: &listDense{Units: 3, UseBias: true}}}
	}
	tests := []struct {
		name    string
		file    string
		environ []string
		sets    []string
		want    func(l []listLayer) []listLayer
	}{
		{name: "file", want: same},
		{name: "option by name", sets: []string{"model.layers.stem.conv2d.filters=64"},
			want: func(l []listLayer) []listLayer { l[0].Conv2D.Filters = 64; return l }},
		{name: "option by number", sets: []string{"model.layers.2.conv2d.slope=0.5", "model.layers.5.dense.use_bias=false"},
			want: func(l []listLayer) []listLayer { l[2].Conv2D.Slope, l[5].Dense.UseBias = &slope, false; return l }},
		{name: "key beside the kind", sets: []string{"model.layers.sum.in=b,stem", "model.layers.1.name=act"},
			want: func(l []listLayer) []listLayer { l[3].In, l[1].Name = []string{"b", "stem"}, "act"; return l }},
		{name: "list in an option", sets: []string{"model.layers.b.conv2d.sizes=3,5"},
			want: func(l []listLayer) []listLayer { l[2].Conv2D.Sizes = []int{3, 5}; return l }},
		{name: "set list", sets: []string{"model.layers=[relu, {name: d, dense: {units: 3}}]"}, want: two},
		{name: "set list without brackets", sets: []string{"model.layers=relu, {name: d, dense: {units: 3}}"}, want: two},
		{name: "set list in lines", sets: []string{"model.layers=- relu\n- name: d\n  dense: {units: 3}\n"}, want: two},
		{name: "set one", sets: []string{"model.layers=relu"}, want: func([]listLayer) []listLayer { return []listLayer{{ReLU: &struct{}{}}} }},
		{name: "set none", sets: []string{"model.layers=[]"}, want: func([]listLayer) []listLayer { return nil }},
		{name: "environment", environ: []string{"RINGTRAIN_MODEL_LAYERS=[relu, {name: d, dense: {units: 3}}]"}, want: two},
		{name: "set over environment", environ: []string{"RINGTRAIN_MODEL_LAYERS=[relu, {name: d, dense: {units: 2}}]"},
			sets: []string{"model.layers.d.dense.units=3"}, want: two},
		{name: "nothing in the file", file: "model: {layers: }", want: func([]listLayer) []listLayer { return nil }},
	}
	for _, tt := range tests {
		t.Run("source="+tt.name, func(t *testing.T) {
			if tt.file == "" {
				tt.file = residual
			}
			job, _, faults := loadLists(tt.file, tt.environ, tt.sets)
			if want := residualWith(tt.want); len(faults) > 0 || !reflect.DeepEqual(job.Model.Layers, want) {
				t.Errorf("layers are %s, faults %q, want %s", format(reflect.ValueOf(job.Model.Layers)), faults, format(reflect.ValueOf(want)))
			}
		})
	}
}

// TestPlainLists verifies that items without kinds have their own keys and those of an
// embedded struct.
func TestPlainLists(t *testing.T) {
	job, _, faults := loadLists("input:\n  evals:\n    - {name: late, format: idx, images: a}\n    - format: libsvm\n      files: [x, y]\n", nil,
		[]string{"input.evals.late.labels=b", "input.evals.1.base=1"})
	want := []listEval{
		{"late", Files{Format: "idx", Images: "a", Labels: "b"}},
		{"", Files{Format: "libsvm", Files: []string{"x", "y"}, Base: 1}},
	}
	if len(faults) > 0 || !reflect.DeepEqual(job.Input.Evals, want) {
		t.Errorf("files are %+v, faults %q, want %+v", job.Input.Evals, faults, want)
	}
}

// TestListFaults verifies that each mistake in a list is reported with its place and item, and
// hides no other mistake.
func TestListFaults(t *testing.T) {
	const kinds = "conv2d, dense, relu, add"
	tests := []struct {
		name string
		file string
		sets []string
		want []string
	}{
		{name: "misspelt kind", file: "model:\n  layers:\n    - {name: c1, conv2: {filters: 1}}\n    - dens\n    - zzz", want: []string{
			`job.yaml:3:18: no key "conv2" in model.layers.c1 (did you mean "conv2d"?)`,
			`job.yaml:4:7: model.layers.1 is dens, which is no kind (did you mean "dense"?)`,
			`job.yaml:5:7: model.layers.2 is zzz, want one of ` + kinds,
		}},
		{name: "misspelt option", file: "model:\n  layers:\n    - relu\n    - conv2d: {filtrs: 1, padding: [same], filters: x}\n    - name: d\n      dense:\n        unitz: 3", want: []string{
			`job.yaml:4:16: no key "filtrs" in model.layers.1.conv2d (did you mean "filters"?)`,
			"job.yaml:4:36: model.layers.1.conv2d.padding is a list, want one value",
			"job.yaml:4:53: model.layers.1.conv2d.filters is x, want a whole number",
			`job.yaml:7:9: no key "unitz" in model.layers.d.dense (did you mean "units"?)`,
		}},
		{name: "kinds", file: "model:\n  layers:\n    - {name: c1}\n    - {dense: {units: 1}, relu: {}}\n    -\n    - []\n    - &x relu\n    - name: two\n      add:\n      relu:\n    - {}", want: []string{
			"job.yaml:3:7: model.layers.c1 has no kind, want one of " + kinds,
			"job.yaml:4:7: model.layers.1 is dense and relu, want one kind",
			"job.yaml:5:6: model.layers.2 is empty, want one of " + kinds,
			"job.yaml:6:7: model.layers.3 is a list, want a kind or a mapping with one",
			"job.yaml:7:7: model.layers.4 is an alias, anchor or tag (a text that begins with & needs quotes), want a kind or a mapping with one",
			"job.yaml:8:7: model.layers.two is relu and add, want one kind",
			"job.yaml:11:7: model.layers.6 has no kind, want one of " + kinds,
		}},
		{name: "options that are none", file: "model:\n  layers:\n    - dense: 10\n    - {relu: [1]}", want: []string{
			"job.yaml:3:14: model.layers.0.dense is 10, want a mapping of keys",
			"job.yaml:4:14: model.layers.1.relu is a list, want a mapping of keys",
		}},
		{name: "no list", file: "model: {layers: dense}\ninput: {evals: {name: x}}", want: []string{
			"job.yaml:1:17: model.layers is dense, want a list",
			"job.yaml:2:16: input.evals is a mapping, want a list",
		}},
		{name: "plain items", file: "input:\n  evals:\n    - {nam: x}\n    - idx\n    - {name: y, bas: 1}", want: []string{
			`job.yaml:3:8: no key "nam" in input.evals.0 (did you mean "name"?)`,
			"job.yaml:4:7: input.evals.1 is idx, want a mapping of keys",
			`job.yaml:5:17: no key "bas" in input.evals.y (did you mean "base"?)`,
		}},
		{name: "names", file: "model:\n  layers: [{name: 3, relu: {}}, {name: b.c, relu: {}}]\ninput: {evals: [{name: a}, {name: a}]}", want: []string{
			"model.layers.0.name is 3, want a name that is no number",
			"model.layers.1.name is b.c, want a name without dots",
			"input.evals.1.name is a, which item 0 has",
		}},
		{name: "by set", file: residual, sets: []string{
			"model.layers.stemm.conv2d.filters=1", "model.layers.6.dense.units=1", "model.layers.05.dense.units=1", "model.layers.5.conv2d.filters=1",
			"model.layers.stem.conv2d.filtres=1", "model.layers.stem.conv2d=3", "model.layers.stem=relu", "model.layers.stem.conv2d.filters=x",
			"model.layers=[relu, dense: {unit: 1}, x]", "model.layers=[", "input.evals.0.base=1",
		}, want: []string{
			`--set model.layers.stemm.conv2d.filters: no item "stemm" in model.layers, want "stem", or 0 to 5`,
			`--set model.layers.6.dense.units: no item "6" in model.layers, want stem, b, sum or 0 to 5`,
			`--set model.layers.05.dense.units: no item "05" in model.layers, want stem, b, sum or 0 to 5`,
			"--set model.layers.5.conv2d.filters: model.layers.5 is dense, not conv2d",
			`--set model.layers.stem.conv2d.filtres: no key "filtres" in model.layers.stem.conv2d (did you mean "filters"?)`,
			"--set model.layers.stem.conv2d: model.layers.stem.conv2d is a group of keys, want one of them",
			"--set model.layers.stem: model.layers.stem is a group of keys, want one of them",
			"--set model.layers.stem.conv2d.filters: model.layers.stem.conv2d.filters is x, want a whole number",
			`--set model.layers: no key "unit" in model.layers.1.dense (did you mean "units"?)`,
			"--set model.layers: model.layers.2 is x, want one of " + kinds,
			"--set model.layers: model.layers is [, which cannot be read",
			`--set input.evals.0.base: no item "0" in input.evals, want no item`,
		}},
	}
	for _, tt := range tests {
		t.Run("fault="+tt.name, func(t *testing.T) {
			if _, _, got := loadLists(tt.file, nil, tt.sets); !slices.Equal(got, tt.want) {
				t.Errorf("faults are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestItemPlaces verifies that an error about an item after loading has the place of the item, by
// name or number, and the place that set the item last.
func TestItemPlaces(t *testing.T) {
	job, l, faults := loadLists(residual, nil, []string{"model.layers.stem.conv2d.filters=3"})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	root := reflect.ValueOf(job).Elem()
	places := l.placesInLists(root)
	for text, want := range map[string]string{
		"model.layers.stem (conv2d): wants a shape": "job.yaml:3:7: ",
		"model.layers.0 (conv2d): wants a shape":    "job.yaml:3:7: ",
		"model.layers.1 (relu): no":                 "job.yaml:4:7: ",
		"model.layers.b: no":                        "job.yaml:5:7: ",
		"model.layers.b.conv2d.filters is 8":        "job.yaml:7:9: ",
		"model.layers.b.conv2d.padding is x":        "job.yaml:6:7: ",
		"model.layers.0.conv2d.padding is same":     "job.yaml:3:42: ",
		"model.layers.stem.conv2d.filters is 3":     "job.yaml:3:20: ",
		"model.layers.4 (add): wants two":           "job.yaml:9:7: ",
		"model.layers.9 (add): wants two":           "job.yaml:2:3: ",
		"model.layers has no layer with an output":  "job.yaml:2:3: ",
		"model.kind is x":                           "",
		"input.evals.0.files is empty":              "",
	} {
		if got := withPlace(root, places, fmt.Errorf("%s", text)).Error(); got != want+text {
			t.Errorf("error is %q, want %q", got, want+text)
		}
	}
	_, l, _ = loadLists(residual, []string{"RINGTRAIN_MODEL_LAYERS=[relu]"}, nil)
	if got := fmt.Sprint(l.placesInLists(root)); got != "map[model.layers:RINGTRAIN_MODEL_LAYERS]" {
		t.Errorf("places are %s, want that of the variable alone", got)
	}
}

// drawLists draws a job with lists, with texts that YAML could take for others.
func drawLists(r *rand.Rand) *listJob {
	texts := []string{"", "a", "null", "~", "true", "1e3", "*x", "a: b", "a #b", "- a", "{a", "}", "],", "\"", "'", " a ", "a\nb", "é\t", "a,b", "\x00", "🦀", "relu", "-"}
	text := func() string { return texts[r.IntN(len(texts))] }
	var job listJob
	job.Model.Init = text()
	for range r.IntN(6) {
		l := listLayer{Name: text()}
		for range r.IntN(3) {
			l.In = append(l.In, text())
		}
		switch r.IntN(4) {
		case 0:
			l.Conv2D = &listConv2D{Filters: r.IntN(3) - 1, Padding: text()}
			if r.IntN(2) == 0 {
				v := float64(r.IntN(2)) * 1e-7
				l.Conv2D.Slope = &v
			}
			for range r.IntN(3) {
				l.Conv2D.Sizes = append(l.Conv2D.Sizes, r.IntN(9))
			}
		case 1:
			l.Dense = &listDense{Units: r.IntN(2), UseBias: r.IntN(2) == 0}
		case 2:
			l.ReLU = &struct{}{}
		case 3:
			l.Add = &struct{}{}
		}
		job.Model.Layers = append(job.Model.Layers, l)
	}
	for range r.IntN(3) {
		job.Input.Evals = append(job.Input.Evals, listEval{text(), Files{Format: convert.FormatName(text()), Files: []string{text(), text()}, Base: r.IntN(3)}})
	}
	return &job
}

// TestListFile verifies that a job with lists is printed as a file, and as options for
// --set, that load as an equal one.
func TestListFile(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 2))
	for range 500 {
		want := drawLists(r)
		root := reflect.ValueOf(want).Elem()
		text, err := fileOf(root)
		if err != nil {
			t.Fatal(err)
		}
		wantLists(t, want, string(text), nil)
		var sets []string
		for _, o := range appendOptions(nil, root, "") {
			sets = append(sets, o.Key+"="+o.Value)
		}
		wantLists(t, want, "", sets)
	}
	job := drawLists(r)
	job.Input.Evals = []listEval{{Files: Files{Files: []string{"a", "\xff"}}}}
	_, err := fileOf(reflect.ValueOf(job).Elem())
	if want := `input.evals[0].files[1] is "\xff", want UTF-8 text`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if got, want := format(reflect.ValueOf(residualWith(func(l []listLayer) []listLayer { return l }))),
		"[{name: stem, conv2d: {filters: 16, padding: same}}, relu, {name: b, conv2d: {filters: 8}}, {name: sum, in: [stem, b], add: {}}, add, {dense: {units: 10}}]"; got != want {
		t.Errorf("layers are %s, want %s", got, want)
	}
}

func wantLists(t *testing.T, want *listJob, text string, sets []string) {
	t.Helper()
	got, l, _ := loadLists(text, nil, sets)
	l.faults = slices.DeleteFunc(l.faults, func(err error) bool { return strings.Contains(err.Error(), ".name is ") })
	if len(l.faults) > 0 || !reflect.DeepEqual(got, want) {
		t.Fatalf("file %s\nsets %q\nload with faults %v as\n%+v\nwant\n%+v", text, sets, l.faults, got, want)
	}
}

// FuzzLists verifies that no list makes the loader panic, and that a list without faults prints as
// itself.
func FuzzLists(f *testing.F) {
	f.Add(residual, "model.layers.stem.conv2d.filters", "3")
	f.Add("input:\n  evals: [{name: x, files: a}, {}]", "input.evals.x.base", "1")
	f.Add("model: {layers: [{name: [a], relu: }, [], &a relu, *a, ? b]}", "model.layers", "[relu, {dense: {}}]")
	f.Add("model:\n  layers:\n  - <<: {relu: 1}\n", "model.layers.0.name", "0")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		job, l, faults := loadLists(text, []string{"RINGTRAIN_MODEL_LAYERS=" + value}, []string{key + "=" + value})
		root := reflect.ValueOf(job).Elem()
		canonical(root, key)
		l.placesInLists(root)
		if len(faults) > 0 {
			return
		}
		printed, err := fileOf(root)
		if err != nil {
			t.Fatal(err)
		}
		again, _, faults := loadLists(string(printed), nil, nil)
		if got, want := appendOptions(nil, reflect.ValueOf(again).Elem(), ""), appendOptions(nil, root, ""); len(faults) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s\nloads with faults %v as %q, want %q", printed, faults, got, want)
		}
	})
}

// TestEnvironOfList verifies that a list reaches a started process by its variable.
func TestEnvironOfList(t *testing.T) {
	t.Setenv("RINGTRAIN_MODEL_LAYERS", "- {name: d, dense: {units: 3}}\n- relu")
	job, _, faults := loadLists("", slices.DeleteFunc(os.Environ(), func(e string) bool { return !strings.HasPrefix(e, "RINGTRAIN_MODEL") }), nil)
	if len(faults) > 0 || len(job.Model.Layers) != 2 || job.Model.Layers[0].Dense.Units != 3 {
		t.Errorf("layers are %+v, faults %q, want two", job.Model.Layers, faults)
	}
}
