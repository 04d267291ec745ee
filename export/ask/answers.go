package ask

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"ringtrain/export/interpreter"
)

// Answers are the columns of an answer in CSV, in the form of predict.
type Answers struct {
	names []string
	cells []func(row int) string
	rows  int
}

// NewAnswers returns the answers to records, which are counted from first on: the key columns, or record; then class
// and score, or score_NAME of each class, or prediction, or other outputs by their keys. The outputs are those of a
// signature, and of columns that are handed on also those of another.
func NewAnswers(c Columns, outputs map[string]*interpreter.Tensor, records, first int) (*Answers, error) {
	a := &Answers{rows: records}
	for key, t := range outputs {
		if len(t.Shape) == 0 || t.Shape[0] != records {
			return nil, fmt.Errorf("the output %s has the shape %v, want a row for each of %d records", key, t.Shape, records)
		}
	}
	for _, name := range c.Keys {
		if t := cmp.Or(outputs[name], outputs["key_"+name], outputs["key"]); t != nil && t.Bytes != nil {
			a.add(name, func(row int) string { return string(t.Bytes[row]) })
		}
	}
	if len(a.names) == 0 {
		a.add("record", func(row int) string { return strconv.Itoa(first + row) })
	}
	classes, scores := outputs["classes"], outputs["scores"]
	switch {
	case classes != nil && scores != nil && len(classes.Shape) == 2 && slices.Equal(classes.Shape, scores.Shape) && classes.Bytes != nil && scores.Float32 != nil:
		a.classes(c.classes(classes), classes, scores)
	case outputs["outputs"] != nil && len(outputs["outputs"].Float32) == records:
		a.add("prediction", func(row int) string { return cell(outputs["outputs"], row) })
	default:
		a.others(outputs)
	}
	return a, nil
}

func (a *Answers) add(name string, cell func(row int) string) {
	a.names, a.cells = append(a.names, name), append(a.cells, cell)
}

// others adds the values of outputs: KEY, or KEY_0, KEY_1 … of several.
func (a *Answers) others(outputs map[string]*interpreter.Tensor) {
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		t := outputs[key]
		width := interpreter.Elements(t.Shape[1:])
		for j := range width {
			name := key
			if width > 1 {
				name += "_" + strconv.Itoa(j)
			}
			a.add(name, func(row int) string { return cell(t, row*width+j) })
		}
	}
}

// classes returns the names of the classes in their order: that of the export, else numbers by value and others
// bytewise.
func (c Columns) classes(t *interpreter.Tensor) []string {
	if len(c.Label.Classes) == t.Shape[1] || len(t.Bytes) == 0 {
		return c.Label.Classes
	}
	names := make([]string, t.Shape[1])
	for j := range names {
		names[j] = string(t.Bytes[j])
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return names
}

// classes adds the best class, and the score of each, of two that of the second. Each row has an order of its own.
func (a *Answers) classes(names []string, classes, scores *interpreter.Tensor) {
	width := classes.Shape[1]
	score := func(row int, name string) float32 {
		j := slices.IndexFunc(classes.Bytes[row*width:][:width], func(c []byte) bool { return string(c) == name })
		return scores.Float32[row*width+max(j, 0)]
	}
	a.add("class", func(row int) string {
		best := 0
		for j, name := range names {
			if s := score(row, name); s > score(row, names[best]) || width == 2 && j == 1 && s >= 0.5 {
				best = j
			}
		}
		return names[best]
	})
	for j, name := range names {
		switch {
		case width != 2:
			a.add("score_"+name, func(row int) string { return number(score(row, name)) })
		case j == 1:
			a.add("score", func(row int) string { return number(score(row, name)) })
		}
	}
}

func number(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// cell returns element i as a cell.
func cell(t *interpreter.Tensor, i int) string {
	switch {
	case t.Bytes != nil:
		return string(t.Bytes[i])
	case t.Float32 != nil:
		return number(t.Float32[i])
	}
	return string(appendElement(nil, "", t, i))
}

// Write writes the rows as CSV, after the header if it is asked for.
func (a *Answers) Write(w io.Writer, header bool) error {
	out := csv.NewWriter(w)
	if header {
		_ = out.Write(a.names) // Error returns what went wrong
	}
	record := make([]string, len(a.cells))
	for row := range a.rows {
		for i, cell := range a.cells {
			record[i] = cell(row)
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}
