package show

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"ringtrain/model/graph"
	"ringtrain/model/train/trained"
)

// Predictions writes predictions as CSV with a header, or as lines of JSON.
type Predictions struct {
	form   trained.Form
	names  []string // of the fields of a prediction
	fields []string // of the line

	csv *csv.Writer // nil: JSON

	json   io.Writer
	events bool // each line is an event
	line   []byte
	labels [][]byte // of the names, in JSON
}

// CSVPredictions returns a writer of CSV. The header has the key columns, or record, and then class and score, score_NAME
// of each class, or prediction.
func CSVPredictions(w io.Writer, f trained.Form) (*Predictions, error) {
	p := newPredictions(f)
	p.csv = csv.NewWriter(w)
	return p, p.csv.Write(p.names)
}

// JSONPredictions returns a writer of lines of JSON, of the fields that CSV has; of events if events is true.
func JSONPredictions(w io.Writer, f trained.Form, events bool) *Predictions {
	var taken []string
	if events {
		taken = []string{"event", "time"}
	}
	p := newPredictions(f, taken...)
	p.json, p.events = w, events
	for _, name := range p.names {
		label, _ := marshal(name) // of a text there is always JSON
		p.labels = append(p.labels, append(label, ':'))
	}
	return p
}

func newPredictions(f trained.Form, taken ...string) *Predictions {
	names := fieldNames(f, taken)
	return &Predictions{form: f, names: names, fields: make([]string, len(names))}
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
	if p.csv == nil {
		return p.object(n)
	}
	return p.csv.Write(p.fields)
}

// object writes the fields as a line of JSON; the first scores-th ones are no scores. As report.Number has it, a number
// that JSON does not know is a text.
func (p *Predictions) object(scores int) error {
	p.line = append(p.line[:0], '{')
	if p.events {
		p.line = append(p.line, `"event":"prediction","time":"`...)
		p.line = time.Now().UTC().AppendFormat(p.line, time.RFC3339Nano)
		p.line = append(p.line, `",`...)
	}
	keys := len(p.form.Keys)
	for i, value := range p.fields {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		p.line = append(p.line, p.labels[i]...)
		isText := i < keys || i < scores && i >= max(keys, 1) && p.form.Named
		if isText || value[len(value)-1] == 'N' || value[len(value)-1] == 'f' { // NaN, Inf
			text, _ := marshal(value)
			p.line = append(p.line, text...)
		} else {
			p.line = append(p.line, value...)
		}
	}
	_, err := p.json.Write(append(p.line, "}\n"...))
	return err
}
