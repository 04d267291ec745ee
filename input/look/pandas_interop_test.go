package look

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"ringtrain/input/column"
	"ringtrain/input/synth"
)

// pandasScript prints the words that pandas takes for missing, and what it reads in the columns of a CSV file.
const pandasScript = `
import json, sys
import pandas as pd
from pandas._libs.parsers import STR_NA_VALUES
t = pd.read_csv(sys.argv[1], na_values=["?", r"\N"])
columns = {}
for name in t.columns:
    c = t[name]
    columns[name] = {"missing": int(c.isna().sum()), "distinct": int(c.nunique())}
    if pd.api.types.is_numeric_dtype(c) and not pd.api.types.is_bool_dtype(c):
        columns[name].update(number=True, mean=float(c.mean()), deviation=float(c.std(ddof=0)), min=float(c.min()), max=float(c.max()))
print(json.dumps({"words": sorted(STR_NA_VALUES), "columns": columns}))
`

// TestInteropPandas verifies, with the real pandas, that the words for missing are its own, \N and ?, and that a drawn
// table has the missing cells, the distinct values and the numbers in each column that pandas finds.
func TestInteropPandas(t *testing.T) {
	python := os.Getenv("TABLES_PYTHON")
	if python == "" {
		t.Skip("set TABLES_PYTHON to a python with pandas 3.1.1 to ask it")
	}
	text := []byte(synth.TableHeader)
	for i := range 20_000 {
		text = synth.Table{Seed: 5}.AppendRow(text, i)
	}
	file := write(t, "table.csv", string(text))
	table, err := Look(t.Context(), Options{Names: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", pandasScript, file).Output()
	if err != nil {
		t.Fatalf("pandas: %v", err)
	}
	var pandas struct {
		Words   []string
		Columns map[string]struct {
			Missing, Distinct         int64
			Number                    bool
			Mean, Deviation, Min, Max float64
		}
	}
	if err := json.Unmarshal(out, &pandas); err != nil {
		t.Fatal(err)
	}
	words := slices.DeleteFunc(slices.Sorted(slices.Values(append(column.MissingWords[:], ""))), func(w string) bool { return w == "?" || w == `\N` })
	if !slices.Equal(words, pandas.Words) {
		t.Errorf("words for missing are\n%q, those of pandas\n%q", words, pandas.Words)
	}
	for _, c := range table.Columns {
		want, there := pandas.Columns[c.Name]
		if !there || c.MissingCells() != want.Missing || c.Distinct != want.Distinct || (c.Numbers != nil) != want.Number {
			t.Errorf("column %s: %d missing, %d distinct, numbers: %v, want %+v", c.Name, c.MissingCells(), c.Distinct, c.Numbers != nil, want)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
		if n := c.Numbers; n != nil && !(near(n.Mean, want.Mean) && near(n.Deviation, want.Deviation) && n.Min == want.Min && n.Max == want.Max) {
			t.Errorf("column %s has the numbers %+v, want %+v", c.Name, *n, want)
		}
	}
}
