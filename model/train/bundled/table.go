package bundled

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/export/ask"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// table reads CSV with a header.
func (r *reader) table(content io.Reader) error {
	lines := csv.NewReader(content)
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	header, err := lines.Read()
	if err == io.EOF {
		return nil
	}
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		err = wrong.Err
	}
	if err != nil {
		return r.bad("line", 1, err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	label := slices.Index(header, r.columns.Label.Name)
	if r.labels && label < 0 {
		return r.bad("line", 1, fmt.Errorf("no column %s%s", phrase.Name(r.columns.Label.Name), phrase.DidYouMean(r.columns.Label.Name, header)))
	}
	add, err := r.adder(header)
	if err != nil {
		return r.bad("line", 1, err)
	}
	for {
		record, err := lines.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil && len(record) != len(header) {
			err = fmt.Errorf("%s, want %d as the header has", phrase.Count(len(record), "cell"), len(header))
		}
		if err == nil {
			cell := ""
			if r.labels {
				cell = record[label]
			}
			err = add(record, cell)
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return r.bad("line", wrong.Line, wrong.Err)
		}
		if err != nil {
			line, _ := lines.FieldPos(0)
			return r.bad("line", line, err)
		}
	}
}

// adder returns the function that adds a record of cells, and its label.
func (r *reader) adder(header []string) (func(record []string, label string) error, error) {
	if !ask.TakesExamples(r.inputs) {
		return r.inputAdder(header)
	}
	cells, err := ask.NewCells(header, r.inputs, r.columns)
	return func(record []string, label string) error {
		example, err := cells.Append(nil, record)
		if err != nil {
			return errors.New(strings.TrimLeft(err.Error(), " ."))
		}
		return r.addExample(example[0], label)
	}, err
}

// inputAdder is adder of a signature whose inputs are columns: one value a record in each.
func (r *reader) inputAdder(header []string) (func(record []string, label string) error, error) {
	columns := make([]int, len(r.inputs.Inputs))
	for i, p := range r.inputs.Inputs {
		columns[i] = slices.Index(header, p.Key)
		single := len(p.Shape) == 1 || len(p.Shape) == 2 && p.Shape[1] == 1
		switch {
		case !single:
			return nil, fmt.Errorf("the input %s has the shape %v, and a cell has one value: want JSON lines", phrase.Name(p.Key), p.Shape)
		case columns[i] < 0:
			return nil, fmt.Errorf("no column %s%s", phrase.Name(p.Key), phrase.DidYouMean(p.Key, header))
		}
	}
	return func(record []string, label string) error {
		row := map[string]any{}
		for i, p := range r.inputs.Inputs {
			var value any = json.RawMessage(record[columns[i]])
			if p.Type == tfpb.DataType_DT_STRING {
				value = record[columns[i]]
			}
			row[p.Key] = value
			if len(p.Shape) == 2 {
				row[p.Key] = []any{value}
			}
		}
		text, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("the cells %q are no numbers", record)
		}
		return r.addLine(text, label)
	}, nil
}
