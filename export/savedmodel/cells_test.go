package savedmodel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ringtrain/export/savedmodel/interop"
	"ringtrain/input/column"
	"ringtrain/model"
)

// cellsPlan has columns whose cells are written in many ways: numbers, texts, and a number that is a text, too.
func cellsPlan(t *testing.T) *column.Plan {
	t.Helper()
	p, err := column.Compile([]column.Column{
		{Key: &column.KeyOptions{Names: []string{"request"}}},
		{Numeric: &column.NumericOptions{Names: []string{"n", "both"}, Transform: "log1p", Default: &column.Missing{Number: 2.5}}},
		{Numeric: &column.NumericOptions{Names: []string{"money"}, Standardize: true, Decimal: ",", Strip: "$€. "}},
		{Categorical: &column.CategoricalOptions{Names: []string{"money"}, Hash: 20}},
		{Numeric: &column.NumericOptions{Names: []string{"both"}, Buckets: []float64{-1, 0, 7}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"both", "hashed"}, Hash: 50}},
		{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Vocabulary: "cities"}},
		{Cross: &column.CrossOptions{Of: []string{"both", "city", "hashed"}, Hash: 40}},
	}, func(string) ([]string, error) { return []string{"Bern", "Genève", "NA"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawn returns a random one of some texts, often with blanks around.
func drawn(rng *rand.Rand, all ...string) string {
	around := []string{"", "", "", " ", "\t", "\r\n", "  \v"}
	return around[rng.IntN(len(around))] + all[rng.IntN(len(all))] + around[rng.IntN(len(around))]
}

// drawnCells returns a record of cellsPlan in two forms, as rawRecord does.
func drawnCells(p *column.Plan, number int, rng *rand.Rand) (map[string]any, []column.Cell) {
	texts := map[string]string{
		"request": fmt.Sprint(" r", number),
		"both":    drawn(rng, "3", "-0.5", "1e3", "+7", "-999", "-999.0", "NA", "nan", "?", "", "7.00"),
		"hashed":  drawn(rng, "NA", "?", "", "-999", "\u00a0x\u2003", "ſſ\U0001F600", "a\u0301", strings.Repeat("long ", 3000)),
		"money":   drawn(rng, "$1.234,5", "-€ 3", "7", "NA", "", "0,125 $", "-999"),
		"city":    drawn(rng, "Bern", "Genève", "NA", "Zug", ""),
	}
	record, cells := map[string]any{}, map[string]column.Cell{}
	for name, text := range texts {
		if rng.IntN(6) > 0 || name == "request" {
			record[name], cells[name] = text, column.Cell{Text: []byte(text)}
		}
	}
	if v := []float32{3, -999, 0.25}[rng.IntN(3)]; rng.IntN(4) > 0 {
		record["n"], cells["n"] = v, column.Cell{Values: []float32{v}}
	}
	list := make([]column.Cell, len(p.Inputs))
	for i, name := range p.Inputs {
		list[i] = cells[name]
	}
	return record, list
}

// TestInteropCells verifies that TensorFlow makes of cells what the plan makes of them: blanks around numbers, blanks
// around texts that are trimmed or not, and words for missing, by default and by a list that has a number.
func TestInteropCells(t *testing.T) {
	tf := interop.Start(t)
	for _, missing := range [][]string{nil, {"NA", "nan", "?", "-999", "x.*"}} {
		for _, trim := range []bool{false, true} {
			t.Run(fmt.Sprintf("missing=%q/trim=%t", missing, trim), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(7, 8))
				p := cellsPlan(t)
				p.SetMissing(missing)
				p.Trim = trim
				m := columnsModel(t, p, model.Config{Kind: "deepfm", Hidden: []int{10}}, "", rng)
				var rows []map[string]any
				var records [][]column.Cell
				for i := range 200 {
					record, cells := drawnCells(p, i, rng)
					rows, records = append(rows, record), append(records, cells)
				}
				answersAlike(t, tf, m, p, rows, records)
			})
		}
	}
}
