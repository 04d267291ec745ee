package savedmodel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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

// TestInteropDates verifies that TensorFlow makes of dates what the plan makes of them, and that it refuses a request with
// a date that does not exist.
func TestInteropDates(t *testing.T) {
	tf := interop.Start(t)
	parts := []string{"days", "year", "month", "weekday", "day", "hour"}
	layouts := []string{"auto", "%d/%m/%Y %H:%M", "%m/%d/%y", "%Y%m%d", "%Y年%m月", "%H.%M.%S.%f %d-%m-%Y %z", "unix", "unix_ms"}
	columns := []column.Column{{Key: &column.KeyOptions{Names: []string{"request"}}}, {Categorical: &column.CategoricalOptions{Names: []string{"t6"}, Hash: 9}}}
	for i, layout := range layouts {
		columns = append(columns, column.Column{Time: &column.TimeOptions{Names: []string{fmt.Sprint("t", i)}, Layout: layout, Parts: parts}})
	}
	p, err := column.Compile(columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.SetMissing([]string{"NA", "?", "9999999999"}) // which float32 has as 10000000000
	c := p.Columns()
	for i := range c.Dense {
		c.Dense[i].Mean, c.Dense[i].Scale, c.Dense[i].Default = 1500, 0.002, 1700
	}
	if err := p.Adopt(c); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	m := columnsModel(t, p, model.Config{Kind: "deepfm", Hidden: []int{10}}, "", rng)
	var rows []map[string]any
	var records [][]column.Cell
	for number := range 300 {
		row, cells := map[string]any{"request": fmt.Sprint(number)}, map[string]column.Cell{"request": {Text: fmt.Append(nil, number)}}
		for i, layout := range layouts {
			name := fmt.Sprint("t", i)
			at := time.Unix(rng.Int64N(9000*365*86400)-1900*365*86400, 0).UTC()
			if rng.IntN(3) == 0 {
				at = time.Date(4*rng.IntN(2000)+4, 2, 28, 23*rng.IntN(2), 59, 59, 0, time.UTC).AddDate(0, 0, rng.IntN(3)) // near leap days
			}
			switch {
			case rng.IntN(8) == 0:
			case layout == "unix_ms":
				ms := []int64{at.UnixMilli() + rng.Int64N(1000), 9999999999}[rng.IntN(10)/9]
				row[name], cells[name] = []int64{ms}, column.Cell{IDs: []int64{ms}}
			default:
				text := written(layout, at, rng)
				row[name], cells[name] = text, column.Cell{Text: []byte(text)}
			}
		}
		list := make([]column.Cell, len(p.Inputs))
		for i, name := range p.Inputs {
			list[i] = cells[name]
		}
		rows, records = append(rows, row), append(records, list)
	}
	refused := []map[string]any{
		{"t0": "2026-02-31"}, {}, {"t0": "2026-1-1"}, {}, {"t0": "5"}, {}, {"t1": "29/02/2023 1:00"}, {}, {"t0": "2024-01-01T00:00:00+24:00"}, {}, {"t3": "20240230"}, {},
		{"t6": "253402300800"}, {}, {"t7": []int64{-62135596800001}}, {},
	}
	answersAlike(t, tf, m, p, rows, records, "--refused", jsonLines(t, "refused", refused), "--says", "does not exist")
}

// written is a moment in a layout, or a missing date.
func written(layout string, at time.Time, rng *rand.Rand) string {
	if rng.IntN(8) == 0 {
		return []string{"", " ", "NA", "?"}[rng.IntN(4)]
	}
	form := map[string]string{
		"%d/%m/%Y %H:%M": "2/1/2006 15:04", "%m/%d/%y": "01/2/06", "%Y%m%d": "20060102", "%Y年%m月": "2006年1月", "%H.%M.%S.%f %d-%m-%Y %z": "15.04.05.000 02-01-2006 -0700",
	}[layout]
	switch layout {
	case "auto":
		form = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05.999Z07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04-07"}[rng.IntN(6)]
	case "unix":
		return fmt.Sprint(at.Unix(), []string{"", ".75"}[rng.IntN(2)])
	}
	zone := time.FixedZone("", (rng.IntN(27)-13)*3600+rng.IntN(2)*1800)
	if year := at.In(zone).Year(); year < 1 || year > 9999 {
		zone = time.UTC
	}
	return at.In(zone).Format(form)
}
