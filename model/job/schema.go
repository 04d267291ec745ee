package job

import (
	"encoding/json"
	"math"
	"reflect"

	"ringtrain/model/keys"
)

// A schema is a JSON Schema, or a part of one.
type schema map[string]any

// Schema returns a JSON Schema (2020-12) of a job file, made from the fields of [Config] as everything else
// that is said of keys. What it refuses Load refuses; Load also compares keys with each other.
func Schema() ([]byte, error) {
	cfg := Default()
	s := groupSchema(reflect.ValueOf(&cfg).Elem())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "A job file of ringtrain"
	return json.MarshalIndent(s, "", "  ")
}

// groupSchema returns the schema of a group of keys, which v is with its defaults.
func groupSchema(v reflect.Value) schema {
	properties := schema{}
	var needed []string
	for _, f := range keys.Of(v) {
		p := fieldSchema(f)
		doc := f.Doc()
		if e, ok := v.Interface().(explainer); ok {
			doc = e.Explain(f.Name, doc)
		}
		if doc != "" {
			p["description"] = doc
		}
		properties[f.Name] = p
		if f.Needed() {
			needed = append(needed, f.Name)
		}
	}
	s := schema{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if needed != nil {
		s["required"] = needed
	}
	return s
}

// fieldSchema returns the schema of what a key, or a group of keys, takes.
func fieldSchema(f keys.Field) schema {
	t := f.Value.Type()
	switch {
	case keys.IsKind(t):
		return groupSchema(keys.New(t.Elem()))
	case keys.IsList(t):
		return schema{"type": []string{"array", "null"}, "items": itemSchema(t.Elem())}
	case t.Kind() == reflect.Map:
		return schema{"type": []string{"object", "null"}, "additionalProperties": valueSchema(t.Elem(), keys.Takes(f.Takes()))}
	case keys.IsGroup(f.Value):
		return groupSchema(f.Value)
	case t.Kind() == reflect.Slice && !keys.IsText(t):
		item := valueSchema(t.Elem(), keys.Takes(f.Takes()))
		one := []schema{item, {"type": "array", "items": item}} // one value is a list of one
		if keys.IsText(t.Elem()) {
			pairs := schema{"type": "object", "additionalProperties": schema{"type": "number"}}
			one = []schema{item, pairs, {"type": "array", "items": schema{"anyOf": []schema{item, pairs}}}}
		}
		return schema{"anyOf": one}
	}
	takes := keys.Takes(f.Takes())
	s := valueSchema(t, takes)
	zero := reflect.Zero(t)
	if f.Optional() && t.Kind() != reflect.Pointer && takes.Refuses(zero) != "" {
		return schema{"anyOf": []schema{s, {"const": zero.Interface()}}}
	}
	return s
}

// itemSchema returns the schema of an item of a list of groups: a mapping with one kind, or the bare word of
// one; or, in a list without kinds, a mapping.
func itemSchema(t reflect.Type) schema {
	s := groupSchema(keys.New(t))
	s["type"] = "object"
	kinds := keys.Kinds(t)
	if kinds == nil {
		return s
	}
	var one []schema
	for _, kind := range kinds {
		one = append(one, schema{"required": []string{kind}})
	}
	s["oneOf"] = one
	return schema{"anyOf": []schema{{"enum": kinds}, s}}
}

// valueSchema returns the schema of one value. A key without a value keeps its default.
func valueSchema(t reflect.Type, takes keys.Takes) schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	word := func(types ...string) schema { return schema{"type": append(types, "null")} }
	var s schema
	switch kind := t.Kind(); {
	case keys.IsText(t), kind == reflect.String && takes.Words() == nil:
		return word("string", "number", "boolean")
	case kind == reflect.String:
		all := []any{nil}
		for _, w := range takes.Words() {
			all = append(all, w)
		}
		return schema{"enum": all}
	case kind == reflect.Bool:
		return word("boolean")
	case kind == reflect.Float64:
		s = word("number")
	default:
		s = word("integer")
	}
	if r, ok := takes.Range(); ok {
		limit(s, "minimum", "exclusiveMinimum", r.Min, r.AboveMin)
		limit(s, "maximum", "exclusiveMaximum", r.Max, r.BelowMax)
	}
	return s
}

// limit adds a limit of numbers, by one of two names.
func limit(s schema, within, beyond string, x float64, isBeyond bool) {
	switch {
	case math.IsInf(x, 0):
	case isBeyond:
		s[beyond] = x
	default:
		s[within] = x
	}
}
