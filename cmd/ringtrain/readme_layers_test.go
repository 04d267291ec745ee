package main

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ringtrain/model"
)

var inBackticks = regexp.MustCompile("`([^`]+)`")

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
			t.Errorf("docs/models.md: no row of the layers has %s", kind)
		}
		delete(rows, kind)
		for k := range f.Type.Elem().NumField() {
			if option := f.Type.Elem().Field(k).Tag.Get("yaml"); !strings.Contains(options, "`"+option+"`") {
				t.Errorf("docs/models.md: the row of %s lacks the option %s", kind, option)
			}
		}
	}
	for kind := range rows {
		t.Errorf("docs/models.md: %s is no layer", kind)
	}
}
