package show

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"ringtrain/input/parquet"
	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// Fields are the fields of predictions.
type Fields struct {
	Keys   []string // of columns that are handed on; none: the number of the record stands for them
	Answer []string
	Texts  []bool // of Answer: it is a text, else a number
}

// FieldsOf returns the fields of the predictions of a job.
func FieldsOf(f trained.Form) Fields {
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
	texts := make([]bool, len(answer))
	texts[0] = f.Named
	return Fields{f.Keys, answer, texts}
}

// Predictions writes predictions as CSV with a header, as lines of JSON, or as Parquet.
type Predictions struct {
	names  []string // of the fields of a prediction
	texts  []bool   // of each field: it is a text, else a number
	fields []string // of the line

	csv     *csv.Writer
	parquet *parquet.Writer

	// without both:

	json   io.Writer
	events bool // each line is an event
	line   []byte
	labels [][]byte // of the names, in JSON
}

// CSVPredictions returns a writer of CSV. The header has the key columns, or record, and then class and score, score_NAME
// of each class, or prediction.
func CSVPredictions(w io.Writer, f Fields) (*Predictions, error) {
	p := newPredictions(f)
	p.csv = csv.NewWriter(w)
	return p, p.csv.Write(p.names)
}

// ParquetPredictions returns a writer of Parquet, which Close ends, of the columns that CSV has: texts, whole numbers and
// numbers.
func ParquetPredictions(w io.Writer, f Fields) *Predictions {
	p := newPredictions(f)
	columns := make([]parquet.Field, len(p.names))
	for i, name := range p.names {
		columns[i] = parquet.Field{Name: name, Kind: parquet.Float}
		switch isNumber := len(f.Keys) == 0 && i == 0; {
		case p.texts[i]:
			columns[i].Kind = parquet.Text
		case isNumber, name == "class":
			columns[i].Kind = parquet.Integer
		}
	}
	p.parquet = parquet.NewWriter(w, columns)
	return p
}

// Close ends what is written.
func (p *Predictions) Close() error {
	if p.parquet == nil {
		return nil
	}
	return p.parquet.Close()
}

// JSONPredictions returns a writer of lines of JSON, of the fields that CSV has; of events if events is true.
func JSONPredictions(w io.Writer, f Fields, events bool) *Predictions {
	var taken []string
	if events {
		taken = []string{"event", "time"}
	}
	p := newPredictions(f, taken...)
	p.json, p.events = w, events
	for _, name := range p.names {
		label, _ := report.Marshal(name) // of a text there is always JSON
		p.labels = append(p.labels, append(label, ':'))
	}
	return p
}

// newPredictions returns a writer of fields, none of whose names is there twice or taken.
func newPredictions(f Fields, taken ...string) *Predictions {
	names, texts := []string{"record"}, []bool{false}
	if len(f.Keys) > 0 {
		names, texts = graph.KeyNames(f.Keys, slices.Concat(f.Answer, taken)), slices.Repeat([]bool{true}, len(f.Keys))
	}
	return &Predictions{names: append(names, f.Answer...), texts: append(texts, f.Texts...)}
}

// Write writes the predictions of a job, of classes or of numbers, and all that is written before.
func (p *Predictions) Write(classes []string, all []trained.Prediction) error {
	return p.Rows(len(all), func(dst []string, i int) []string {
		one := &all[i]
		dst = append(dst[:0], one.Keys...)
		if len(dst) == 0 {
			dst = append(dst, strconv.Itoa(one.Record))
		}
		if len(classes) > 0 {
			dst = append(dst, classes[one.Class])
		}
		for _, s := range one.Scores {
			dst = append(dst, strconv.FormatFloat(float64(s), 'g', -1, 32))
		}
		return dst
	})
}

// Rows writes n predictions, of which row makes dst the fields, and all that is written before.
func (p *Predictions) Rows(n int, row func(dst []string, i int) []string) error {
	for i := range n {
		p.fields = row(p.fields, i)
		var err error
		switch {
		case p.csv != nil:
			err = p.csv.Write(p.fields)
		case p.parquet != nil:
			err = p.parquet.Write(p.fields)
		default:
			err = p.object()
		}
		if err != nil {
			return err
		}
	}
	if p.csv == nil {
		return nil
	}
	p.csv.Flush()
	return p.csv.Error()
}

// object writes the fields as a line of JSON. As report.Number has it, a number that JSON does not know is a text.
func (p *Predictions) object() error {
	p.line = append(p.line[:0], '{')
	if p.events {
		p.line = append(p.line, `"event":"prediction","time":"`...)
		p.line = time.Now().UTC().AppendFormat(p.line, time.RFC3339Nano)
		p.line = append(p.line, `",`...)
	}
	for i, value := range p.fields {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		p.line = append(p.line, p.labels[i]...)
		if p.texts[i] || value[len(value)-1] == 'N' || value[len(value)-1] == 'f' { // NaN, Inf
			text, _ := report.Marshal(value)
			p.line = append(p.line, text...)
		} else {
			p.line = append(p.line, value...)
		}
	}
	_, err := p.json.Write(append(p.line, "}\n"...))
	return err
}
