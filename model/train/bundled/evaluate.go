package bundled

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/model/tensor"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Evaluate compares the answers with the labels of the records. An output of names and scores has these
// classes. One of several numbers a record has as many classes, whose labels are their numbers from 0.
// One number a record is the score of the second of two classes if all labels are 0 or 1 and all
// numbers lie between them, and the signature is not one of regression; else it is a value.
func (b *Bundle) Evaluate(ctx context.Context, files Files) (report.Metrics, error) {
	files.Label = true
	var s scored
	err := b.each(ctx, files, func(k *block, outputs []*interpreter.Tensor) error {
		err := s.answers(b, outputs, k.records)
		for i := 0; i < k.records && err == nil; i++ {
			err = s.label(k.labels[i])
			if err != nil {
				err = fmt.Errorf("%s: record %d: %w", k.name, k.first+i, err)
			}
		}
		return exitcode.With(exitcode.BadData, err)
	})
	if err != nil {
		return report.Metrics{}, err
	}
	m := evaluate.Scored(s.scores, s.y, s.classes(b))
	m.Split, m.Name, m.Classes = "eval", strings.Join(files.Names, " "), s.names
	return m, nil
}

// scored are the scores and labels of all records.
type scored struct {
	scores tensor.Matrix
	y      []float32
	names  []string // of classes; nil: they have none
}

// answers adds the scores of records.
func (s *scored) answers(b *Bundle, outputs []*interpreter.Tensor, records int) error {
	byKey := map[string]*interpreter.Tensor{}
	for i, t := range outputs {
		byKey[b.program.Outputs[i].Key] = t
	}
	names, rows, err := b.columns.ByClass(byKey["classes"], byKey["scores"])
	switch {
	case err != nil:
		return err
	case names != nil && s.names != nil && !slices.Equal(names, s.names):
		return fmt.Errorf("the classes are %s, and those of records before %s", phrase.Names(names, ask.MaxNames), phrase.Names(s.names, ask.MaxNames))
	case names != nil:
		s.names = names
		return s.append(rows, nil, len(names))
	case len(outputs) != 1:
		return fmt.Errorf("the signature %s has %s, want --output with one of them", b.Signature, phrase.Count(len(outputs), "output"))
	}
	t := outputs[0]
	if len(t.Shape) == 0 || t.Shape[0] != records || t.Float32 == nil && t.Float64 == nil {
		return fmt.Errorf("the output %s has the type %s and the shape %v, want numbers for each of %s", b.program.Outputs[0].Key, t.Type, t.Shape, phrase.Count(records, "record"))
	}
	width := interpreter.Elements(t.Shape[1:])
	if named := b.columns.Label.Classes; len(named) > 0 && (width == len(named) || width == 1 && len(named) == 2) {
		s.names = named
	}
	return s.append(t.Float32, t.Float64, width)
}

// append adds rows of numbers, of which one list is empty.
func (s *scored) append(singles []float32, doubles []float64, width int) error {
	if len(s.scores.Data) > 0 && width != s.scores.Cols || width == 0 {
		return fmt.Errorf("a record has %s, and those before have %d", phrase.Count(width, "number"), s.scores.Cols)
	}
	s.scores.Data = append(s.scores.Data, singles...)
	for _, v := range doubles {
		s.scores.Data = append(s.scores.Data, float32(v))
	}
	s.scores.Cols, s.scores.Rows = width, len(s.scores.Data)/width
	return nil
}

// label adds the label of a record: the name of a class, else a number.
func (s *scored) label(text string) error {
	text = strings.TrimSpace(text)
	if s.names != nil {
		at := slices.Index(s.names, text)
		if at < 0 {
			return fmt.Errorf("the label %s is none of the classes %s", phrase.Quote(text), phrase.Names(s.names, ask.MaxNames))
		}
		s.y = append(s.y, float32(at))
		return nil
	}
	switch text {
	case "true":
		text = "1"
	case "false":
		text = "0"
	}
	v, err := strconv.ParseFloat(text, 32)
	class := v == math.Trunc(v) && v >= 0 && v < float64(s.scores.Cols)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("the label is %s, want a number, as 1234.5 is written", phrase.Quote(text))
	case s.scores.Cols > 1 && !class:
		return fmt.Errorf("the label is %s, want a class from 0 to %d", phrase.Quote(text), s.scores.Cols-1)
	}
	s.y = append(s.y, float32(v))
	return nil
}

// classes returns the number of classes, 0 of a regression.
func (s *scored) classes(b *Bundle) int {
	if s.names != nil {
		return max(2, len(s.names))
	}
	if s.scores.Cols > 1 {
		return s.scores.Cols
	}
	label := func(v float32) bool { return v != 0 && v != 1 }
	score := func(v float32) bool { return !(v >= 0 && v <= 1) }
	if b.inputs.Method == regressMethod || slices.ContainsFunc(s.y, label) || slices.ContainsFunc(s.scores.Data, score) {
		return 0
	}
	return 2
}

const regressMethod = "tensorflow/serving/regress"
