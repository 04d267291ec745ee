package parquet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestInteropTypes verifies the cells of files that pyarrow writes: of all types, by all encodings and compressions, in both
// versions of pages, with and without missing values, lists and fields of structs. It counts them. Types that are not read
// are refused by name.
func TestInteropTypes(t *testing.T) {
	python := os.Getenv("TABLES_PYTHON")
	if python == "" {
		t.Skip("set TABLES_PYTHON to a python with pyarrow 26.0.1 to read its files")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "-W", "ignore", filepath.Join("testdata", "matrix.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "cells.json"))
	if err != nil {
		t.Fatal(err)
	}
	var wrote struct {
		Files []struct {
			Name, Nulls string
			Columns     []string
		}
		Cells   map[string]map[string][]any
		Checked int
	}
	if err := json.Unmarshal(content, &wrote); err != nil {
		t.Fatal(err)
	}
	cells, types := 0, map[string]bool{}
	for _, file := range wrote.Files {
		names := file.Columns
		for name := range wrote.Cells[file.Nulls] {
			if file.Columns == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for i, row := range textsOf(t, filepath.Join(dir, file.Name), names...) {
			for k, name := range names {
				if got, want := row[k], wantedText(name, wrote.Cells[file.Nulls][name][i]); got != want {
					t.Fatalf("%s: column %s, record %d: %q, want %q", file.Name, name, i, got, want)
				}
				cells++
				types[name] = true
			}
		}
	}
	t.Logf("%d cells of %d types in %d files are as pyarrow's; pandas wrote %d of them alike", cells, len(types), len(wrote.Files), wrote.Checked)
	if cells < 5_000_000 || len(types) < 46 {
		t.Errorf("%d cells of %d types, want more", cells, len(types))
	}
	wantLarge(t, filepath.Join(dir, "large.parquet"))
	refused, err := OpenRows(t.Context(), []string{filepath.Join(dir, "refused.parquet")}, input.Folders{}, input.Limits{}, func(string) Need { return Shown })
	if err != nil || !slices.Equal(refused.Names, []string{"ok"}) {
		t.Fatalf("error %v, or columns that are read: %v", err, refused.Names)
	}
	for i, want := range []string{"map is a map", "lists is a list of lists", "structs is a list of structs", "maps is a list of maps"} {
		if err := refused.Unread[i]; !strings.Contains(err.Error(), "refused.parquet: column "+want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// wantLarge verifies that a row group whose texts are 3 GiB is read with the memory of its dictionary and few pages.
func wantLarge(t *testing.T, name string) {
	rows, err := OpenRows(t.Context(), []string{name}, input.Folders{}, input.Limits{}, func(string) Need { return Texts })
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	bytes := 0
	if err := rows.Each(t.Context(), 0, rows.Records(), func(r *Row) error { bytes += len(r.Cells[0].Text); return nil }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 || bytes != 3<<30 {
		t.Errorf("%d bytes of texts took %d bytes of memory, want %d and at most %d", bytes, took, 3<<30, 64<<20)
	}
}

// wantedText is what textsOf makes of a text, of a list of texts, or of bytes, each of which stands as a character.
func wantedText(column string, of any) string {
	var texts []string
	switch v := of.(type) {
	case string:
		texts = []string{v}
	case []any:
		for _, text := range v {
			texts = append(texts, text.(string))
		}
	}
	text := strings.Join(texts, "|")
	if column != "binary" && column != "fixed" {
		return text
	}
	var b []byte
	for _, c := range text {
		b = append(b, byte(c))
	}
	return string(b)
}
