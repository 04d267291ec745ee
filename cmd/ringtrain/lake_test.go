package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// lakesJob reads rows of files of any format with columns.
const lakesJob = `
name: lake
model: {kind: wide-deep, embedding: 4, hidden: [8], classes: auto}
input:
  train: FILES
  columns:
    - key: {names: [id]}
    - label: {names: [plan]}
    - numeric: {names: [price], standardize: true, default: mean}
    - numeric: {names: [visits], transform: log1p}
    - categorical: {names: [city], vocabulary: auto}
    - categorical: {names: [active], vocabulary: auto}
    - time: {names: [day]}
    - categorical: {names: [region], vocabulary: auto}
  batch: 8
  split: {share: 0.25}
optimizer: {name: adagrad, learning_rate: 0.1}
train: {epochs: 2, seed: 1}
checkpoint: {dir: ckpt}
export: {savedmodel: export, if: always}
`

// lakeRow is a row of a lake, without what its folders say.
type lakeRow struct {
	ID     string   `parquet:"id"`
	Plan   string   `parquet:"plan"`
	Price  *float64 `parquet:"price,optional"`
	Visits int32    `parquet:"visits"`
	City   *string  `parquet:"city,optional"`
	Active bool     `parquet:"active"`
}

// csv is the row as pandas writes it, but for the boolean, which is a text of Parquet as others have it.
func (l *lakeRow) csv() string {
	price, city := "", ""
	if l.Price != nil {
		price = fmt.Sprintf("%.2f", *l.Price)
	}
	if l.City != nil {
		city = *l.City
	}
	return fmt.Sprintf("%s,%s,%s,%d,%s,%t", l.ID, l.Plan, price, l.Visits, city, l.Active)
}

// writeLakes writes the same rows as a file and as a lake, each as CSV and as Parquet.
func writeLakes(t *testing.T, b *box) {
	type whole struct {
		lakeRow
		Day    string `parquet:"day"`
		Region string `parquet:"region"`
	}
	const header = "id,plan,price,visits,city,active"
	table := func(name string, rows any) {
		var out bytes.Buffer
		var err error
		switch rows := rows.(type) {
		case []whole:
			err = parquet.Write(&out, rows)
		case []lakeRow:
			err = parquet.Write(&out, rows)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(b.path(name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(b.path(name), out.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	flat, all, n := header+",day,region\n", []whole{}, 0
	for _, f := range []struct{ folder, day, region string }{
		{"day=2026-01-01/region=north%2Feast", "2026-01-01", "north/east"}, {"day=2026-01-02/region=__HIVE_DEFAULT_PARTITION__", "2026-01-02", ""}, {"day=2026-02-01/region=south", "2026-02-01", "south"},
	} {
		text, rows := header+"\n", []lakeRow{}
		for range 40 {
			price, city := float64(n%9)+0.25, []string{"Bern", "Zug", "Genf"}[n%3]
			row := lakeRow{fmt.Sprint("r", n), []string{"basic", "pro", "plus"}[n/2%3], &price, int32(n % 7), &city, n%2 == 0}
			if n%5 == 0 {
				row.Price = nil
			}
			if n%11 == 0 {
				row.City = nil
			}
			rows, text = append(rows, row), text+row.csv()+"\n"
			all, flat = append(all, whole{row, f.day, f.region}), flat+row.csv()+","+f.day+","+f.region+"\n"
			n++
		}
		b.write(filepath.Join("csvlake", f.folder, "part-0.csv"), text)
		b.write(filepath.Join("csvlake", f.folder, "_SUCCESS"), "")
		table(filepath.Join("parquetlake", f.folder, "part-0.parquet"), rows)
	}
	b.write("flat.csv", flat)
	table("flat.parquet", all)
}

// TestLakeDigests verifies that the same rows as CSV, as Parquet and as lakes of both train to one digest, with and without
// a cache, hold out the same records, and get the same predictions and metrics, by the job, by its export, and by the bundle
// alone; predictions in Parquet are those in CSV.
func TestLakeDigests(t *testing.T) {
	var want [6]string
	for i, files := range []string{
		"{format: csv, files: [flat.csv], header: true}", "{format: csv, files: [csvlake], header: true}",
		"{format: parquet, files: [flat.parquet]}", `{format: parquet, files: ["parquetlake/**/*.parquet"]}`,
	} {
		b := newBox(t)
		writeLakes(t, b)
		b.write("lake.yaml", strings.Replace(lakesJob, "FILES", files, 1))
		e := b.must(0, "train", "--json", "lake.yaml", "--set", "input.cache=parsed")
		got := [6]string{
			e.digest(t),
			b.must(0, "predict", "lake.yaml").stdout,
			b.must(0, "predict", "lake.yaml", "parquetlake", "--from", "export").stdout,
			b.must(0, "eval", "lake.yaml", "--from", "export").stdout,
			b.must(0, "predict", "--from", "export", "csvlake").stdout,
			b.must(0, "predict", "lake.yaml", "flat.csv").stdout,
		}
		if again := b.must(0, "train", "lake.yaml", "--set", "input.cache=off", "--set", "checkpoint.dir=other", "--set", "export.savedmodel=").last(); again != "digest="+got[0] {
			t.Errorf("%s: without a cache %s, want %s", files, again, got[0])
		}
		if i == 0 {
			want = got
			if n := strings.Count(got[1], "\n"); n != 31 {
				t.Errorf("%d lines of the held-out records, want 30 and a header", n)
			}
		}
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("%s: %d is\n%s\nwant\n%s", files, k, got[k], want[k])
			}
		}
		b.must(0, "predict", "lake.yaml", "--to", "scores.parquet")
		if scores := catOf(t, b, "scores.parquet"); scores != strings.Count(want[1], "\n")-1 {
			t.Errorf("%d predictions in Parquet", scores)
		}
	}
}

// catOf returns how many records data cat prints of a file.
func catOf(t *testing.T, b *box, name string) int {
	return strings.Count(b.must(0, "data", "cat", name).stdout, `"score_pro":"`)
}
