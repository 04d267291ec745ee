package train

import (
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// tally is what blocks of an evaluation come to.
type tally struct {
	loss, logLoss float64 // sums
	right, top    int64
}

// append appends the result of a block.
func (t tally) append(dst []byte) []byte {
	for _, bits := range []uint64{math.Float64bits(t.loss), math.Float64bits(t.logLoss), uint64(t.right), uint64(t.top)} {
		dst = binary.LittleEndian.AppendUint64(dst, bits)
	}
	return dst
}

// add adds the result of the block at the front of b.
func (t *tally) add(b []byte) (rest []byte) {
	le := binary.LittleEndian
	t.loss += math.Float64frombits(le.Uint64(b))
	t.logLoss += math.Float64frombits(le.Uint64(b[8:]))
	t.right += int64(le.Uint64(b[16:]))
	t.top += int64(le.Uint64(b[24:]))
	return b[blockResultBytes:]
}

// The counts of a rank are its cells that are not 0, little-endian, by class and then by
// prediction:
//
//	0           4           8          16
//	┌───────────┬───────────┬───────────┬───
//	│ class u32 │ pred. u32 │ count i64 │ …
//	└───────────┴───────────┴───────────┴───
const cellBytes = 16

func appendCells(dst []byte, cells []model.Cell) []byte {
	le := binary.LittleEndian
	for _, c := range cells {
		dst = le.AppendUint32(dst, uint32(c.Class))
		dst = le.AppendUint32(dst, uint32(c.Predicted))
		dst = le.AppendUint64(dst, uint64(c.Examples))
	}
	return dst
}

// takeCells adds the counts in b, of so many records and classes, to c.
func takeCells(c *model.Confusion, b []byte, records, classes int) error {
	if classes == 0 {
		return nil
	}
	le, left := binary.LittleEndian, int64(records)
	if len(b)%cellBytes != 0 {
		return fmt.Errorf("%d bytes of counts, want a multiple of %d", len(b), cellBytes)
	}
	for ; len(b) > 0; b = b[cellBytes:] {
		n := model.Cell{Class: int(le.Uint32(b)), Predicted: int(le.Uint32(b[4:])), Examples: int64(le.Uint64(b[8:]))}
		if n.Class >= classes || n.Predicted >= classes {
			return fmt.Errorf("a count of class %d predicted as %d, want less than %d", n.Class, n.Predicted, classes)
		}
		c.Add(n)
		left -= n.Examples
	}
	if left != 0 {
		return fmt.Errorf("counts of %d records, want %d", int64(records)-left, records)
	}
	return nil
}

// classes is the number of classes of a model that has a score for each, 0 of another.
func (e *Evaluator) classes() int {
	h := e.Model.Graph().Head
	if h.Kind != graph.HeadClasses {
		return 0
	}
	return h.Classes
}

// maxConfusion is the most classes whose confusion is told whole.
const maxConfusion = 100

// metrics are those that fit the model.
func (e *Evaluator) metrics(sum tally) Metrics {
	n := int64(e.Data.Len())
	m := Metrics{Split: e.Split, Name: e.Name, Examples: n, Loss: Number(sum.loss / float64(n))}
	number := func(f float64) *Number { v := Number(f); return &v }
	classes := e.classes()
	switch {
	case e.binary():
		scores := tensor.Matrix{Rows: len(e.scores), Cols: 1, Data: e.scores}
		e.counts.Count(scores, e.labels)
		classes = 2
	case classes == 0:
		m.RMSE = number(model.RMSE(sum.loss, n))
		return m
	}
	m.Correct, m.Accuracy = &sum.right, number(float64(sum.right)/float64(n))
	m.LogLoss = number(sum.logLoss / float64(n))
	precision, recall, f1 := e.counts.PerClass(classes)
	m.Precision, m.Recall, m.F1 = numbersOf64(precision), numbersOf64(recall), numbersOf64(f1)
	if classes <= maxConfusion {
		m.Confusion = e.counts.Matrix(classes)
	}
	if e.binary() {
		positives := int64(0)
		for _, y := range e.labels {
			if y > 0 {
				positives++
			}
		}
		m.AUC = number(model.AUC(e.scores, e.labels))
		m.NormalizedEntropy = number(model.NormalizedEntropy(float64(*m.LogLoss), positives, n))
		m.Calibration = number(model.Calibration(e.scores, positives))
	} else if e.TopK > 0 && e.TopK < classes {
		m.TopK = number(float64(sum.top) / float64(n))
	}
	return m
}

func numbersOf64(list []float64) []Number {
	numbers := make([]Number, len(list))
	for i, f := range list {
		numbers[i] = Number(f)
	}
	return numbers
}
