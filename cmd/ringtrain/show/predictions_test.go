package show

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/parquet"
	"ringtrain/model/train/trained"
)

// TestPredictionFields verifies the fields of predictions of each form, in CSV and in JSON, and that no field is there
// twice: a key column that is called like another field has another name.
func TestPredictionFields(t *testing.T) {
	numbers, names := []string{"0", "1", "2"}, []string{"blue", "green", "red"}
	for _, tt := range []struct {
		name      string
		form      trained.Form
		one       trained.Prediction
		csv, json string
	}{
		{"two classes", trained.Form{Classes: numbers[:2]}, trained.Prediction{Record: 3, Class: 1, Scores: []float32{0.75}},
			"record,class,score\n3,1,0.75\n", `{"record":3,"class":1,"score":0.75}`},
		{"names of classes", trained.Form{Classes: []string{"no", "yes"}, Named: true}, trained.Prediction{Scores: []float32{0.25}},
			"record,class,score\n0,no,0.25\n", `{"record":0,"class":"no","score":0.25}`},
		{"three", trained.Form{Classes: names, Named: true}, trained.Prediction{Class: 2, Scores: []float32{0.25, 0, 0.75}},
			"record,class,score_blue,score_green,score_red\n0,red,0.25,0,0.75\n", `{"record":0,"class":"red","score_blue":0.25,"score_green":0,"score_red":0.75}`},
		{"a regression", trained.Form{}, trained.Prediction{Record: 1, Scores: []float32{-1e-7}},
			"record,prediction\n1,-1e-07\n", `{"record":1,"prediction":-1e-07}`},
		{"not finite", trained.Form{Classes: numbers}, trained.Prediction{Scores: []float32{float32(math.NaN()), float32(math.Inf(1)), 0}},
			"record,class,score_0,score_1,score_2\n0,0,NaN,+Inf,0\n", `{"record":0,"class":0,"score_0":"NaN","score_1":"+Inf","score_2":0}`},
		{"keys", trained.Form{Keys: []string{"shop", "order"}}, trained.Prediction{Record: 1, Keys: []string{"a", ""}, Scores: []float32{2}},
			"shop,order,prediction\na,,2\n", `{"shop":"a","order":"","prediction":2}`},
		{"keys called like other fields", trained.Form{Keys: []string{"class", "key_class", "time"}, Classes: numbers[:2]}, trained.Prediction{Keys: []string{"a", "b", "c"}, Scores: []float32{0}},
			"key_class,key_key_class,time,class,score\na,b,c,0,0\n", `{"key_class":"a","key_key_class":"b","key_time":"c","class":0,"score":0}`},
	} {
		var lines, objects, events bytes.Buffer
		p, err := CSVPredictions(&lines, FieldsOf(tt.form))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Predictions{p, JSONPredictions(&objects, FieldsOf(tt.form), false), JSONPredictions(&events, FieldsOf(tt.form), true)} {
			if err := p.Write(tt.form.Classes, []trained.Prediction{tt.one}); err != nil {
				t.Fatal(err)
			}
		}
		if lines.String() != tt.csv {
			t.Errorf("%s: CSV\n%s\nwant\n%s", tt.name, &lines, tt.csv)
		}
		if object := strings.Replace(strings.TrimSpace(objects.String()), `"time":`, `"key_time":`, 1); object != tt.json {
			t.Errorf("%s: JSON\n%s\nwant\n%s", tt.name, object, tt.json)
		}
		if table := parquetOf(t, tt.form, tt.one); table != tt.csv {
			t.Errorf("%s: Parquet\n%s\nwant\n%s", tt.name, table, tt.csv)
		}
		var event, want map[string]any
		if err := json.Unmarshal(events.Bytes(), &event); err != nil || event["event"] != "prediction" || event["time"] == "" {
			t.Errorf("%s: event %s, error %v", tt.name, &events, err)
		}
		delete(event, "event")
		delete(event, "time")
		if err := json.Unmarshal([]byte(tt.json), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(event, want) {
			t.Errorf("%s: event %v, want %v", tt.name, event, want)
		}
	}
}

// parquetOf writes a prediction as Parquet, and returns it as CSV.
func parquetOf(t *testing.T, form trained.Form, one trained.Prediction) string {
	name := filepath.Join(t.TempDir(), "a.parquet")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := ParquetPredictions(out, FieldsOf(form))
	if err := errors.Join(p.Write(form.Classes, []trained.Prediction{one}), p.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.OpenRows(t.Context(), []string{name}, input.Folders{}, input.Limits{}, func(string) parquet.Need { return parquet.Texts })
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var text strings.Builder
	fmt.Fprintln(&text, strings.Join(rows.Names, ","))
	err = rows.Each(t.Context(), 0, rows.Records(), func(row *parquet.Row) error {
		var cells []string
		for i, c := range row.Cells {
			cell := string(c.Text)
			if !p.texts[i] {
				v, err := strconv.ParseFloat(cmp.Or(cell, "NaN"), 64)
				if err != nil {
					return err
				}
				cell = strconv.FormatFloat(v, 'g', -1, 64)
			}
			cells = append(cells, cell)
		}
		fmt.Fprintln(&text, strings.Join(cells, ","))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestPredictionRows verifies that a prediction is one row of as many fields as the others, whatever its key.
func TestPredictionRows(t *testing.T) {
	keys := []string{"a\tb", "c\nd", "e\r\nf", "", `back\slash`, `"quoted", key`, "\t\n"}
	var lines, objects bytes.Buffer
	form := trained.Form{Keys: []string{"id"}}
	p, err := CSVPredictions(&lines, FieldsOf(form))
	if err != nil {
		t.Fatal(err)
	}
	j := JSONPredictions(&objects, FieldsOf(form), false)
	for i := range keys {
		for _, p := range []*Predictions{p, j} {
			if err := p.Write(nil, []trained.Prediction{{Record: i, Keys: keys[i : i+1], Scores: []float32{0.5}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	records, err := csv.NewReader(bytes.NewReader(lines.Bytes())).ReadAll()
	if err != nil || len(records) != 1+len(keys) {
		t.Fatalf("%d lines of CSV, error %v", len(records), err)
	}
	for i, key := range keys {
		if got := records[1+i][0]; got != strings.ReplaceAll(key, "\r\n", "\n") { // as encoding/csv reads it
			t.Errorf("the key of CSV is %q, want %q", got, key)
		}
	}
	var got []string
	for line := range strings.Lines(objects.String()) {
		var one struct{ ID string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		got = append(got, one.ID)
	}
	if !slices.Equal(got, keys) {
		t.Errorf("keys of JSON are %q, want %q", got, keys)
	}
}
