package show

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"ringtrain/model/graph"
	"ringtrain/model/train/trained"
)

// Predictions writes predictions as CSV with a header, or as lines of JSON.
type Predictions struct {
	form  trained.Form
	names []string // of the fields of a prediction

	csv    *csv.Writer // nil: JSON
	fields []string    // of the line

	json   io.Writer
	events bool // each line is an event
	line   []byte
	labels [][]byte // of the names, in JSON
}

// CSVPredictions returns a writer of CSV. The header has the key columns, or record, and then class and score, score_NAME
// of each class, or prediction.
func CSVPredictions(w io.Writer, f trained.Form) (*Predictions, error) {
	p := &Predictions{form: f, names: fieldNames(f, nil), csv: csv.NewWriter(w)}
	p.fields = make([]string, len(p.names))
	return p, p.csv.Write(p.names)
}

// JSONPredictions returns a writer of lines of JSON, of the fields that CSV has; of events if events is true.
func JSONPredictions(w io.Writer, f trained.Form, events bool) *Predictions {
	p := &Predictions{form: f, json: w, events: events}
	var taken []string
	if events {
		taken = []string{"event", "time"}
	}
	p.names = fieldNames(f, taken)
	for _, name := range p.names {
		label, _ := marshal(name) // of a text there is always JSON
		p.labels = append(p.labels, append(label, ':'))
	}
	return p
}

// fieldNames returns the names of the fields of a prediction, none of them twice or taken.
func fieldNames(f trained.Form, taken []string) []string {
	answer := []string{"prediction"}
	if len(f.Classes) > 0 {
		answer = []string{"class"}
	}
	if len(f.Classes) == 2 {
		answer = append(answer, "score")
	} else {
		for _, name := range f.Classes {
			answer = append(answer, "score_"+name)
		}
	}
	if len(f.Keys) == 0 {
		return append([]string{"record"}, answer...)
	}
	return append(graph.KeyNames(f.Keys, slices.Concat(answer, taken)), answer...)
}

// Write writes predictions, and all that is written before.
func (p *Predictions) Write(all []trained.Prediction) error {
	for i := range all {
		if err := p.one(&all[i]); err != nil {
			return err
		}
	}
	if p.csv == nil {
		return nil
	}
	p.csv.Flush()
	return p.csv.Error()
}

func (p *Predictions) one(one *trained.Prediction) error {
	if p.csv == nil {
		return p.object(one)
	}
	n := copy(p.fields, one.Keys)
	if len(p.form.Keys) == 0 {
		p.fields[0], n = strconv.Itoa(one.Record), 1
	}
	if len(p.form.Classes) > 0 {
		p.fields[n] = p.form.Classes[one.Class]
		n++
	}
	for i, s := range one.Scores {
		p.fields[n+i] = strconv.FormatFloat(float64(s), 'g', -1, 32)
	}
	return p.csv.Write(p.fields)
}

// object writes a line of JSON.
func (p *Predictions) object(one *trained.Prediction) error {
	p.line = append(p.line[:0], '{')
	if p.events {
		p.line = append(p.line, `"event":"prediction","time":"`...)
		p.line = time.Now().UTC().AppendFormat(p.line, time.RFC3339Nano)
		p.line = append(p.line, `",`...)
	}
	at := 0
	field := func(value []byte) {
		if at > 0 {
			p.line = append(p.line, ',')
		}
		p.line = append(append(p.line, p.labels[at]...), value...)
		at++
	}
	text := func(s string) {
		value, _ := marshal(s)
		field(value)
	}
	if len(p.form.Keys) == 0 {
		field(strconv.AppendInt(nil, int64(one.Record), 10))
	}
	for _, key := range one.Keys {
		text(key)
	}
	if p.form.Named {
		text(p.form.Classes[one.Class])
	} else if len(p.form.Classes) > 0 {
		field(strconv.AppendInt(nil, int64(one.Class), 10))
	}
	for _, s := range one.Scores {
		field(appendNumber(nil, s))
	}
	_, err := p.json.Write(append(p.line, "}\n"...))
	return err
}

// appendNumber appends a number in JSON, as report.Number writes it.
func appendNumber(dst []byte, v float32) []byte {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return strconv.AppendQuote(dst, strconv.FormatFloat(float64(v), 'g', -1, 32))
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}
