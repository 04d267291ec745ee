package model

import (
	"cmp"
	"slices"

	"ringtrain/model/tensor"
)

// Confusion counts examples by class and predicted class. Counts are integers, so the
// order of the examples and their distribution over ranks do not matter. The zero value
// is empty.
type Confusion struct {
	cells map[cell]int64
}

type cell struct{ class, predicted int32 }

// Cell is one count of a Confusion.
type Cell struct {
	Class, Predicted int
	Examples         int64
}

// Reset makes c empty.
func (c *Confusion) Reset() { clear(c.cells) }

// Count counts the prediction of each row of scores with its label: see Predicted.
func (c *Confusion) Count(scores tensor.Matrix, y []float32, threshold float64) {
	for i, label := range y {
		c.Add(Cell{int(label), Predicted(scores.Row(i), threshold), 1})
	}
}

// Add adds examples to a cell.
func (c *Confusion) Add(n Cell) {
	if c.cells == nil {
		c.cells = map[cell]int64{}
	}
	c.cells[cell{int32(n.Class), int32(n.Predicted)}] += n.Examples
}

// Cells returns the counts that are not 0, by class and then by prediction.
func (c *Confusion) Cells() []Cell {
	cells := make([]Cell, 0, len(c.cells))
	for at, n := range c.cells {
		cells = append(cells, Cell{int(at.class), int(at.predicted), n})
	}
	slices.SortFunc(cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Predicted, b.Predicted))
	})
	return cells
}

// Matrix returns the counts of the given number of classes: a row for each class, a
// column for each prediction.
func (c *Confusion) Matrix(classes int) [][]int64 {
	m := make([][]int64, classes)
	for i := range m {
		m[i] = make([]int64, classes)
	}
	for at, n := range c.cells {
		m[at.class][at.predicted] = n
	}
	return m
}

// PerClass returns for each class
//
//	precision  the share of the examples predicted as the class that have the class
//	recall     the share of the examples of the class that are predicted as the class
//	f1         their harmonic mean, 2·precision·recall / (precision + recall)
//
// A share with divisor 0 is 0, as in TensorFlow and, with a warning, in scikit-learn.
func (c *Confusion) PerClass(classes int) (precision, recall, f1 []float64) {
	right, have, are := make([]int64, classes), make([]int64, classes), make([]int64, classes)
	for at, n := range c.cells {
		have[at.class] += n
		are[at.predicted] += n
		if at.class == at.predicted {
			right[at.class] = n
		}
	}
	for k := range classes {
		precision = append(precision, share(right[k], are[k]))
		recall = append(recall, share(right[k], have[k]))
		f1 = append(f1, share(2*right[k], are[k]+have[k]))
	}
	return precision, recall, f1
}

// share returns n/all, 0 if all is 0.
func share(n, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}
