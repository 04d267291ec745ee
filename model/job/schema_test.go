package job

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// fits reports whether a value is valid by a schema, of which it knows what Schema uses.
func fits(s map[string]any, v any) bool {
	for key, want := range s {
		ok := true
		switch object, _ := v.(map[string]any); key {
		case "type":
			types, isList := want.([]any)
			if !isList {
				types = []any{want}
			}
			ok = slices.ContainsFunc(types, func(t any) bool { return isType(v, t.(string)) })
		case "enum":
			ok = slices.ContainsFunc(want.([]any), func(w any) bool { return reflect.DeepEqual(w, v) })
		case "const":
			ok = fmt.Sprint(v) == fmt.Sprint(want)
		case "anyOf", "oneOf":
			n := 0
			for _, one := range want.([]any) {
				if fits(one.(map[string]any), v) {
					n++
				}
			}
			ok = n == 1 || n > 0 && key == "anyOf"
		case "required":
			for _, name := range want.([]any) {
				_, has := object[name.(string)]
				ok = ok && (has || v == nil)
			}
		case "properties":
			for name, member := range object {
				if p, known := want.(map[string]any)[name].(map[string]any); known {
					ok = ok && fits(p, member)
				} else if rest, isSchema := s["additionalProperties"].(map[string]any); isSchema {
					ok = ok && fits(rest, member)
				} else {
					ok = ok && s["additionalProperties"] != false
				}
			}
		case "items":
			list, _ := v.([]any)
			for _, item := range list {
				ok = ok && fits(want.(map[string]any), item)
			}
		case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
			if x, isNumber := v.(float64); isNumber {
				limit := want.(float64)
				ok = map[string]bool{"minimum": x >= limit, "exclusiveMinimum": x > limit, "maximum": x <= limit, "exclusiveMaximum": x < limit}[key]
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// isType reports whether a value of JSON is of a type.
func isType(v any, name string) bool {
	switch x := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && x == float64(int64(x))
	case []any:
		return name == "array"
	}
	return name == "object"
}

// asJSON returns a job file as JSON has it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var v any
	if err := json.Unmarshal(converted, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// jobFiles returns the built-in jobs, whole as --print-options writes them, too, and the examples, by names of files.
func jobFiles(t *testing.T) map[string]string {
	t.Helper()
	jobs := map[string]string{}
	for _, name := range BuiltinNames() {
		text, _ := Builtin(name)
		cfg, err := Load(name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		file, err := cfg.File()
		if err != nil {
			t.Fatal(err)
		}
		jobs[name+".yaml"], jobs["whole-"+name+".yaml"] = string(text), string(file)
	}
	examples, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("examples: %v, %v", examples, err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		jobs["example-"+filepath.Base(filepath.Dir(name))+"-"+filepath.Base(name)] = string(text)
	}
	return jobs
}

// TestSchema verifies that the JSON Schema takes each built-in job and each example, whole as
// --print-options writes it, too, and that it refuses faulty files that Load refuses.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	jobs := jobFiles(t)
	for _, text := range jobs {
		if !fits(s, asJSON(t, text)) {
			t.Errorf("refuses\n%s", text)
		}
	}
	for line := range strings.Lines(refusedJobs) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n")
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil, nil); err == nil {
			t.Errorf("Load takes %q: the case shows nothing", line)
		}
		if fits(s, asJSON(t, line)) {
			t.Errorf("takes %q, which Load refuses", line)
		}
	}
}

// refusedJobs are job files, one a line, that Load and the schema refuse.
const refusedJobs = `nme: x
name: [a]
name: {a: b}
model: 5
model: [linear]
model: {kind: liner}
model: {kind: linear, class: 2}
model: {kind: softmax, classes: {a: 1}}
model: {kind: mlp, hidden: [0]}
model: {kind: mlp, hidden: [10, -1]}
model: {kind: mlp, hidden: [a]}
model: {kind: linear, l1: -1}
model: {layers: [dens]}
model: {layers: [{dense: {units: 0}}]}
model: {layers: [{dense: {unit: 3}}]}
model: {layers: [{dense: {units: 3}, relu: {}}]}
model: {layers: {dense: {units: 3}}}
input: {train: {format: xls}}
input: {train: csv}
input: {batch: 0}
input: {batch: many}
input: {batch: 1.5}
input: {shuffle: 1}
input: {shuffle: "yes"}
input: {columns: [{numeric: {names: [a], transform: log2}}]}
input: {columns: [{numeric: {names: [a], standardize: 3}}]}
input: {columns: [{numbers: {names: [a]}}]}
input: {columns: [{categorical: {names: [a], hash: -5}}]}
input: {columns: [{name: a}]}
input: {evals: [{name: a, formt: csv}]}
loss: {reduction: max}
optimizer: {name: adamm}
optimizer: {name: adam, beta1: 1}
optimizer: {name: adam, learning_rate: -0.1}
schedule: {kind: cosin}
train: {epochs: 0}
train: {early_stopping: {patience: -1}}
export: {savedmodel: {dir: x}}
checkpoint: {keep: 0}`
