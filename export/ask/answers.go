package ask

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/ring/phrase"
)

// Answers are the columns of an answer in the form of predict.
type Answers struct {
	Names []string // of the columns
	Texts []bool   // of each column: its cells are texts, else numbers
	Keys  int      // columns before the others that are handed on; 0: the first one is the number of the record
	Rows  int

	cells []func(row int) string // of each column
}

// Usual returns the signature that a request asks which names none, else the first that has inputs; nil if there is none.
func Usual(m *interpreter.Model) (usual *interpreter.Signature) {
	for i := range m.Signatures {
		if s := &m.Signatures[i]; len(s.Inputs) > 0 && (usual == nil || s.Name == DefaultSignature) {
			usual = s
		}
	}
	return usual
}

// Answers returns the answers to records, which are counted from first on: the key columns if there are any, or record; then
// class and score, or score_NAME of each class, or prediction, or other outputs by their keys. run asks a signature of the
// model for outputs, about the same records: for those that are key columns.
func (c Columns) Answers(m *interpreter.Model, ports []interpreter.Port, outputs []*interpreter.Tensor, first int, run func(s *interpreter.Signature, outputs []string) ([]*interpreter.Tensor, error)) (*Answers, error) {
	var keys []*interpreter.Tensor
	if s, handed := c.handed(m); s != nil {
		var err error
		if keys, err = run(s, handed); err != nil {
			return nil, err
		}
	}
	return c.answers(ports, outputs, keys, first)
}

// handed returns the signature whose outputs are the key columns, and these outputs; nil if there is none.
func (c Columns) handed(m *interpreter.Model) (s *interpreter.Signature, outputs []string) {
	s, err := m.Signature("predict")
	if err != nil || len(c.Keys) == 0 || !TakesExamples(s) {
		return nil, nil
	}
	for _, name := range c.Keys {
		at := slices.IndexFunc(s.Outputs, func(p interpreter.Port) bool {
			return p.Key == name || p.Key == "key_"+name || p.Key == "key" && len(c.Keys) == 1
		})
		if at < 0 || s.Outputs[at].Type != tfpb.DataType_DT_STRING {
			return nil, nil
		}
		outputs = append(outputs, s.Outputs[at].Key)
	}
	return s, outputs
}

// answers returns the answers of which keys are the key columns.
func (c Columns) answers(ports []interpreter.Port, outputs, keys []*interpreter.Tensor, first int) (*Answers, error) {
	a := &Answers{Keys: len(keys)}
	for i, t := range slices.Concat(outputs, keys) {
		if len(t.Shape) == 0 || i > 0 && t.Shape[0] != a.Rows {
			return nil, fmt.Errorf("an output has the shape %v, want a row for each record", t.Shape)
		}
		a.Rows = t.Shape[0]
	}
	for i, t := range keys {
		a.add(c.Keys[i], true, func(row int) string { return cell(t, row) })
	}
	if len(keys) == 0 {
		a.add("record", false, func(row int) string { return strconv.Itoa(first + row) })
	}
	a.answer(c, ports, outputs)
	copy(a.Names, graph.KeyNames(a.Names[:len(keys)], a.Names[len(keys):]))
	return a, nil
}

// answer adds the columns of the outputs.
func (a *Answers) answer(c Columns, ports []interpreter.Port, outputs []*interpreter.Tensor) {
	byKey := map[string]*interpreter.Tensor{}
	for i, t := range outputs {
		byKey[ports[i].Key] = t
	}
	if len(byKey) == 2 {
		if names, rows, err := c.ByClass(byKey["classes"], byKey["scores"]); err == nil && names != nil {
			a.classes(names, rows)
			return
		}
	}
	for i, t := range outputs {
		name, width := ports[i].Key, interpreter.Elements(t.Shape[1:])
		if name == "outputs" && len(outputs) == 1 {
			name = "prediction"
		}
		for j := range width {
			column := name
			if width > 1 {
				column += "_" + strconv.Itoa(j)
			}
			a.add(column, t.Bytes != nil, func(row int) string { return cell(t, row*width+j) })
		}
	}
}

func (a *Answers) add(name string, text bool, cell func(row int) string) {
	a.Names, a.Texts, a.cells = append(a.Names, name), append(a.Texts, text), append(a.cells, cell)
}

// ByClass returns the names of the classes of two outputs, and the scores with those of a row in the order of the names:
// each row has an order of its own. No names mean that the outputs are not classes and their scores. An error is a row
// that has other classes.
func (c Columns) ByClass(classes, scores *interpreter.Tensor) (names []string, rows []float32, err error) {
	if classes == nil || scores == nil || len(classes.Bytes) == 0 || len(scores.Float32) == 0 || len(classes.Shape) != 2 || !slices.Equal(classes.Shape, scores.Shape) {
		return nil, nil, nil
	}
	width := classes.Shape[1]
	names, rows = c.classNames(classes.Bytes[:width]), make([]float32, len(scores.Float32))
	for i, name := range classes.Bytes {
		at := slices.Index(names, string(name))
		if at < 0 {
			return nil, nil, fmt.Errorf("the class %s is none of %s", phrase.Quote(string(name)), phrase.Names(names, MaxNames))
		}
		rows[i/width*width+at] = scores.Float32[i]
	}
	return names, rows, nil
}

// MaxNames bounds the names in a message.
const MaxNames = 20

// classNames returns the names of the classes of a row in their order: that of the export, else numbers by value and others
// bytewise.
func (c Columns) classNames(row [][]byte) []string {
	if len(c.Label.Classes) == len(row) {
		return c.Label.Classes
	}
	names := make([]string, len(row))
	for j := range names {
		names[j] = string(row[j])
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return names
}

// classes adds the best class, and the score of each, of two that of the second.
func (a *Answers) classes(names []string, scores []float32) {
	width := len(names)
	_, err := strconv.Atoi(names[0])
	a.add("class", err != nil, func(row int) string {
		best, of := 0, scores[row*width:][:width]
		for j, s := range of {
			if s > of[best] || width == 2 && j == 1 && s >= 0.5 {
				best = j
			}
		}
		return names[best]
	})
	for j, name := range names {
		switch {
		case width != 2:
			a.add("score_"+name, false, func(row int) string { return number(float64(scores[row*width+j]), 32) })
		case j == 1:
			a.add("score", false, func(row int) string { return number(float64(scores[row*width+j]), 32) })
		}
	}
}

func number(v float64, bits int) string { return strconv.FormatFloat(v, 'g', -1, bits) }

// cell returns element i as a cell.
func cell(t *interpreter.Tensor, i int) string {
	switch {
	case t.Bytes != nil:
		return string(t.Bytes[i])
	case t.Float32 != nil:
		return number(float64(t.Float32[i]), 32)
	case t.Float64 != nil:
		return number(t.Float64[i], 64)
	}
	return string(appendElement(nil, "", t, i))
}

// Row makes dst the cells of a row.
func (a *Answers) Row(dst []string, row int) []string {
	dst = dst[:0]
	for _, cell := range a.cells {
		dst = append(dst, cell(row))
	}
	return dst
}

// Write writes the rows as CSV with a header.
func (a *Answers) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(a.Names) // Error returns what went wrong
	var cells []string
	for row := range a.Rows {
		cells = a.Row(cells, row)
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}
