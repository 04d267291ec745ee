package evaluate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/train/report"
)

// tally is the sum of blocks of an evaluation.
type tally struct {
	sums
	weight      float64 // sum of the weights
	correct     int64   // number of examples that are right, whatever their weights
	weighted    int64   // number of examples whose weight is not 1
	undefined   int64   // number of examples whose score is NaN; of binary models
	bad, lost   int64   // number of bad records, which are no examples, and how many they take away
	calibration model.Calibration
	spread      spread    // of what a regression learns of its labels
	unit        spread    // of its labels
	classes     []float64 // weight of the examples of each class
}

// sums are those of examples, each times its weight. right and top are shares of the weight; off and squares are
// the absolute and the squared error of a regression in the unit of its label.
type sums struct{ loss, logLoss, right, top, off, squares float64 }

// add adds the sums of examples, each times w. The conversions round each product, on every
// architecture alike.
func (s *sums) add(o sums, w float64) {
	s.loss += float64(w * o.loss)
	s.logLoss += float64(w * o.logLoss)
	s.right += float64(w * o.right)
	s.top += float64(w * o.top)
	s.off += float64(w * o.off)
	s.squares += float64(w * o.squares)
}

const (
	tallyBytes     = 8 * (16 + 4*len(model.Calibration{})) // without classes
	blockNodeBytes = 8 + tallyBytes
)

// merge adds the blocks that follow those of t.
func (t *tally) merge(o *tally) {
	t.sums.add(o.sums, 1)
	t.spread.merge(o.spread, t.weight, o.weight)
	t.unit.merge(o.unit, t.weight, o.weight)
	t.weight += o.weight
	t.correct += o.correct
	t.weighted += o.weighted
	t.undefined += o.undefined
	t.bad += o.bad
	t.lost += o.lost
	t.calibration.Merge(&o.calibration)
	t.classes = slices.Clone(t.classes) // the tally that t was copied from has them, too
	for k, w := range o.classes {
		t.classes[k] += w
	}
}

// encode appends t in tallyBytes and 8 for each class.
func (t *tally) encode(dst []byte) []byte {
	for _, v := range []float64{t.loss, t.logLoss, t.right, t.top, t.off, t.squares, t.weight, t.spread.mean, t.spread.squares, t.unit.mean, t.unit.squares} {
		dst = appendFloat(dst, v)
	}
	for _, n := range []int64{t.correct, t.weighted, t.undefined, t.bad, t.lost} {
		dst = appendInt(dst, n)
	}
	for _, c := range t.calibration {
		dst = appendFloat(appendFloat(appendFloat(dst, c.Scores), c.Weight), c.Positives)
		dst = appendInt(dst, c.Examples)
	}
	for _, w := range t.classes {
		dst = appendFloat(dst, w)
	}
	return dst
}

// decode reads t with so many classes from the front of b, which is long enough. It returns the rest of b.
func (t *tally) decode(b []byte, classes int) (rest []byte) {
	word := func() uint64 {
		w := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return w
	}
	for _, v := range []*float64{&t.loss, &t.logLoss, &t.right, &t.top, &t.off, &t.squares, &t.weight, &t.spread.mean, &t.spread.squares, &t.unit.mean, &t.unit.squares} {
		*v = math.Float64frombits(word())
	}
	for _, n := range []*int64{&t.correct, &t.weighted, &t.undefined, &t.bad, &t.lost} {
		*n = int64(word())
	}
	for k := range t.calibration {
		c := &t.calibration[k]
		for _, v := range []*float64{&c.Scores, &c.Weight, &c.Positives} {
			*v = math.Float64frombits(word())
		}
		c.Examples = int64(word())
	}
	t.classes = make([]float64, classes)
	for k := range t.classes {
		t.classes[k] = math.Float64frombits(word())
	}
	return b
}

func appendInt(dst []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

// decodeInt reads an integer that appendInt wrote.
func decodeInt(b []byte) (v int64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, fmt.Errorf("%d bytes, want a number of 8", len(b))
	}
	return int64(binary.LittleEndian.Uint64(b)), b[8:], nil
}

// A rank sends its counts that are not 0 by class, then by prediction, little-endian:
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

// addCells adds the counts in b, of so many records and classes, to c.
func addCells(c *model.Confusion, b []byte, records, classes int) error {
	if classes == 0 {
		records = 0
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

// classes returns the number of classes of the model, 0 for a regression.
func (e *Evaluator) classes() int { return e.Model.Graph().Head.Classes }

// maxConfusion is the largest number of classes whose confusion matrix is reported.
const maxConfusion = 100

// metrics returns the metrics that fit the model. c is of a binary model.
func (e *Evaluator) metrics(sum *tally, c *curve) report.Metrics {
	m := report.Metrics{Split: e.Split, Name: e.Name, Examples: int64(e.Data.Facts().Records) - sum.bad, Bad: sum.lost, Loss: report.Number(sum.loss / sum.weight), Weighted: sum.weighted > 0}
	m.Constant = report.Number(e.constant(sum))
	m.Baseline = baseline(sum.classes, sum.unit.squares, sum.weight)
	classes := e.classes()
	if classes == 0 {
		m.RMSE, m.MAE = report.NewNumber(model.RMSE(sum.squares, sum.weight)), report.NewNumber(sum.off/sum.weight)
		m.R2 = report.NewNumber(model.R2(sum.squares, sum.unit.squares))
		return m
	}
	if e.binary() {
		m.Threshold = report.NewNumber(e.Threshold)
	}
	accuracy := sum.right / sum.weight
	if e.BestF1 && c.best != nil {
		m.Threshold, accuracy = &c.best.Threshold, c.made.accuracy()
		sum.correct = e.decideBy(&c.made)
	}
	m.Classes = e.Model.Graph().Head.Labels
	m.Correct, m.Accuracy = &sum.correct, report.NewNumber(accuracy)
	m.LogLoss = report.NewNumber(sum.logLoss / sum.weight)
	precision, recall, f1 := e.counts.PerClass(classes)
	m.Precision, m.Recall, m.F1 = numbersOf64(precision), numbersOf64(recall), numbersOf64(f1)
	if classes <= maxConfusion {
		m.Confusion = e.counts.Matrix(classes)
	}
	if e.binary() {
		m.AUC = report.NewNumber(c.area)
		m.NormalizedEntropy = report.NewNumber(model.NormalizedEntropy(float64(*m.LogLoss), sum.calibration.Positives(), sum.calibration.Weight()))
		m.Calibration = report.NewNumber(sum.calibration.Ratio())
		m.Buckets, m.Thresholds, m.BestF1 = calibrationBuckets(&sum.calibration), c.fixed, c.best
	}
	if e.TopK > 0 && e.TopK < classes && e.Model.Graph().Head.Kind == graph.HeadClasses {
		m.TopK = report.NewNumber(sum.top / sum.weight)
	}
	return m
}

// decideBy sets the counts of classes to those of an outcome. It returns the number of examples that are right.
func (e *Evaluator) decideBy(o *outcome) (correct int64) {
	all := e.recordsByClass()
	misses, rest := int64(all.positives)-o.hitRecords, int64(all.negatives)-o.alarmRecords
	e.counts.Reset()
	for _, c := range []model.Cell{{Class: 0, Predicted: 0, Examples: rest}, {Class: 0, Predicted: 1, Examples: o.alarmRecords}, {Class: 1, Predicted: 0, Examples: misses}, {Class: 1, Predicted: 1, Examples: o.hitRecords}} {
		e.counts.Add(c)
	}
	return o.hitRecords + rest
}

// calibrationBuckets returns the buckets that have examples.
func calibrationBuckets(c *model.Calibration) (list []report.CalibrationBucket) {
	for k, b := range c {
		if b.Examples > 0 {
			list = append(list, report.CalibrationBucket{
				From: report.Number(k) / report.Number(len(c)), To: report.Number(k+1) / report.Number(len(c)), Examples: b.Examples,
				Predicted: report.Number(b.Scores / b.Weight), Observed: report.Number(b.Positives / b.Weight),
			})
		}
	}
	return list
}

func numbersOf64(list []float64) []report.Number {
	numbers := make([]report.Number, len(list))
	for i, f := range list {
		numbers[i] = report.Number(f)
	}
	return numbers
}
