package evaluate

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Evaluator computes metrics over a whole data set, shared among the ranks.
//
// The records are divided into blocks of input.EvalBlock. One rank evaluates a whole block. Sums are
// kept per block and folded in the order of the blocks. So for equal variables the result has the same
// bits at any world size. No codec is used.
type Evaluator struct {
	Model *model.Model
	Data  input.Dataset
	Split string // "train", "eval" or "test"
	Name  string // name of the data set in input.evals, "" for other data sets
	TopK  int    // number of scores for top_k, used if there are more classes; 0: none

	// Threshold is the score above which a record of two classes is predicted as the second. With BestF1 it is the
	// threshold of the best F1 of these records, if there is one.
	Threshold float64
	BestF1    bool

	// MaxBad is the number of bad records that are passed over, as in input.SourceConfig. They are no
	// examples.
	MaxBad int64

	// Answers returns scores of a batch in the place of the model's, one row an example; the losses stay the model's. nil:
	// the model's scores are taken.
	Answers func(b *input.Batch) (tensor.Matrix, error)

	Load func(context.Context) error // reads the part of Data that is still in its files; nil: all is read

	// Seen counts the records of this rank, and after Run those of all. A bad record is in none.
	Seen input.Counts

	batch    input.Batch
	second   []float32 // scores of a block
	sent     []byte
	gathered ring.Gathered
	blocks   blockSums       // of this rank, and then of all
	counts   model.Confusion // of this rank, and then of all
	ranking  model.Ranking   // of this rank: its examples of weight 1
	weighted weighted        // of this rank: examples of blocks with other weights
}

// A rank sends an exit code as int64, little-endian. After code 0 it sends the sums of its blocks and
// its counts of classes. After the code of an error it sends the text of the error. So all ranks learn
// of a bad record, and no rank waits for another. Scores follow in pieces: see area.go.
const codeBytes = 8

// Run evaluates the model. It is a collective operation. If a rank cannot read its records, or if the
// context work of its own work ends, all ranks return the same error, a [Failure] of that rank.
func (e *Evaluator) Run(ctx, work context.Context, g *ring.Group) (report.Metrics, error) {
	m := g.Membership()
	err := e.evaluateShare(work, m)
	if ctx.Err() != nil {
		return report.Metrics{}, context.Cause(ctx)
	}
	if err != nil {
		text := phrase.Clip(strings.ReplaceAll(err.Error(), "\n", " "), maxFailure)
		e.sent = binary.LittleEndian.AppendUint64(e.sent[:0], uint64(exitcode.Of(err)))
		e.sent = append(e.sent, text...)
	}
	if err := g.AllGather(ctx, e.sent, &e.gathered); err != nil {
		return report.Metrics{}, err
	}
	if err := e.failure(m); err != nil {
		return report.Metrics{}, err
	}
	if err := e.fold(m.Size()); err != nil {
		return report.Metrics{}, err
	}
	if err := SumCounts(ctx, g, &e.Seen, e.Data); err != nil {
		return report.Metrics{}, err
	}
	sum, curve := e.blocks.total(), curve{area: math.NaN()}
	if sum.lost > e.MaxBad {
		return report.Metrics{}, exitcode.With(exitcode.BadData, fmt.Errorf("evaluate: %d bad records of the %s records, want at most %d, as input.max_bad_records says", sum.lost, e.Split, e.MaxBad))
	}
	if sum.weight == 0 {
		return report.Metrics{}, exitcode.With(exitcode.BadData, fmt.Errorf("the weights of all %s records are 0, want one above 0: look at their column of weights", cmp.Or(e.Name, e.Split)))
	}
	if e.binary() && sum.undefined == 0 {
		if curve, err = e.curve(ctx, g, sum.weighted > 0); err != nil {
			return report.Metrics{}, err
		}
	}
	return e.metrics(&sum, &curve), nil
}

// curve is what the order of the scores of two classes tells.
type curve struct {
	area float64 // under the ROC curve
	thresholds
}

// curve counts the scores of all ranks. It is a collective operation and empties the rankings.
func (e *Evaluator) curve(ctx context.Context, g *ring.Group, weighs bool) (c curve, err error) {
	m := merger{tie: tieBytes, at: &c.thresholds}
	records := e.recordsByClass()
	e.ranking.Sort()
	if !weighs {
		m.area = &plainArea{all: records}
		err = m.count(ctx, g, &plain{ranking: &e.ranking})
	} else {
		m.tie = weightedBytes
		var all *weights
		if all, err = e.weighted.all(ctx, g, &e.ranking); err != nil {
			return c, err
		}
		m.area = &weightedArea{all: all, records: plainArea{all: records}}
		err = m.count(ctx, g, e.weighted.sorted(&e.ranking))
	}
	c.area = m.area.value()
	return c, err
}

// recordsByClass returns the number of records of each of two classes.
func (e *Evaluator) recordsByClass() (n numbers) {
	for _, c := range e.counts.Cells() {
		if c.Class > 0 {
			n.positives += uint64(c.Examples)
		} else {
			n.negatives += uint64(c.Examples)
		}
	}
	return n
}

// evaluateShare puts the results of this rank's blocks into e.sent.
func (e *Evaluator) evaluateShare(ctx context.Context, m ring.Membership) error {
	e.sent = append(e.sent[:0], make([]byte, codeBytes)...)
	if e.Load != nil {
		if err := e.Load(ctx); err != nil {
			return err
		}
	}
	e.counts.Reset()
	e.Seen = input.Counts{}
	e.ranking.Reset()
	first, last := input.EvalBlocks(e.Data.Facts().Records, m.Rank, m.Size())
	e.weighted.reset(last - first)
	e.blocks.reset(blocksBefore(first), e.classes())
	for ; first < last; first += input.EvalBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := e.block(first, min(first+input.EvalBlock, last)); err != nil {
			return err
		}
	}
	e.sent = appendCells(e.blocks.encode(e.sent), e.counts.Cells())
	return nil
}

// blocksBefore returns the number of blocks that begin before a record.
func blocksBefore(record int) int { return (record + input.EvalBlock - 1) / input.EvalBlock }

// maxFailure bounds the text of an error, in bytes.
const maxFailure = 4 << 10

// A Failure is the error of an evaluation whose records could not be read on a rank. The variables are
// unchanged.
type Failure struct{ *ring.Cause }

func (f Failure) Unwrap() error { return f.Cause }

// failure returns the error of the lowest rank that failed, nil if none failed.
func (e *Evaluator) failure(m ring.Membership) error {
	for rank := range m.Size() {
		b := e.gathered.At(rank)
		if len(b) < codeBytes {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes for the evaluation, want %d or more", rank, len(b), codeBytes))
		}
		if code := binary.LittleEndian.Uint64(b); code != 0 {
			c := &ring.Cause{
				Rank: rank, Host: m.Workers[rank].Host, Step: -1, Operation: "evaluate",
				Text: phrase.Foreign(string(b[codeBytes:]), maxFailure), ExitCode: int(min(code, 255)),
			}
			return exitcode.With(c.ExitCode, Failure{c})
		}
	}
	return nil
}

// binary reports whether the model tells two classes apart, whatever its loss.
func (e *Evaluator) binary() bool { return e.classes() == 2 }

// ofSecond returns the score of the second of two classes of each example. Softmax has a column for each class.
func (e *Evaluator) ofSecond(scores tensor.Matrix) []float32 {
	if scores.Cols == 1 {
		return scores.Data
	}
	e.second = e.second[:0]
	for i := range scores.Rows {
		e.second = append(e.second, scores.Row(i)[1])
	}
	return e.second
}

// block adds the block of records [first, last) to the sums of this rank.
func (e *Evaluator) block(first, last int) error {
	if err := input.ReadRecords(&e.batch, e.Data, first, last, e.MaxBad > 0); err != nil {
		return err
	}
	e.Seen.Add(&e.batch)
	bad, lost := int64(len(e.batch.Bad)), int64(e.batch.Lost)
	if len(e.batch.Y) == 0 {
		e.blocks.add(0, &tally{bad: bad, lost: lost, classes: make([]float64, e.classes())})
		return nil
	}
	y, weights := e.batch.Y, e.weights()
	var answers tensor.Matrix
	if e.Answers != nil {
		var err error
		if answers, err = e.Answers(&e.batch); err != nil {
			return err
		}
	}
	t := tally{sums: sums{loss: e.Model.Evaluate(&e.batch.X, y)}, weight: float64(len(y)), bad: bad, lost: lost}
	scores := e.Model.Scores()
	if e.Answers != nil {
		scores = answers
	}
	t.correct = e.measure(&t.sums, scores, y)
	if weights != nil {
		e.weigh(&t, scores, y, weights)
	}
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return float64(weights[i])
	}
	t.classes = make([]float64, e.classes())
	if len(t.classes) == 0 {
		t.spread, t.unit = spreadOf(y, weight, graph.Head{}.Unit), spreadOf(y, weight, e.Model.Graph().Head.Unit)
	} else {
		e.counts.Count(scores, y, e.Threshold)
		for i, label := range y {
			t.classes[int(label)] += weight(i)
		}
	}
	if e.binary() {
		second := e.ofSecond(scores)
		t.calibration.Add(second, y, weights)
		for i, s := range second {
			if s != s && (weights == nil || weights[i] != 0) {
				t.undefined++
			}
		}
		if weights == nil {
			e.ranking.Add(second, y)
		} else {
			e.weighted.add(second, y, weights)
		}
	}
	e.blocks.add(0, &t)
	return nil
}

// weights returns the weights of the records in e.batch, nil if all are 1.
func (e *Evaluator) weights() []float32 {
	w := e.batch.Importance
	if !slices.ContainsFunc(w, func(v float32) bool { return v != 1 }) {
		return nil
	}
	for len(w) < len(e.batch.Y) {
		w = append(w, 1)
	}
	e.batch.Importance = w
	return w
}

// measure sets s, except for the loss, to the sums of examples without weights. It returns the number
// of examples that are right.
func (e *Evaluator) measure(s *sums, scores tensor.Matrix, y []float32) (correct int64) {
	if e.classes() == 0 {
		s.off, s.squares = model.Errors(scores.Data, y, e.Model.Graph().Head.Unit)
		return 0
	}
	correct = model.Correct(scores, y, e.Threshold)
	s.right, s.logLoss = float64(correct), model.LogLoss(scores, y)
	if scores.Cols > 1 {
		s.top = float64(model.InTopK(scores, y, e.TopK))
	}
	return correct
}

// weigh sets the sums of t to those of the examples times their weights.
func (e *Evaluator) weigh(t *tally, scores tensor.Matrix, y, weights []float32) {
	t.sums, t.weight = sums{}, 0
	losses := e.Model.Losses()
	for i, w := range weights {
		if w != 1 {
			t.weighted++
		}
		if w == 0 {
			continue
		}
		one := sums{loss: losses[i]}
		e.measure(&one, tensor.Matrix{Rows: 1, Cols: scores.Cols, Data: scores.Row(i)}, y[i:i+1])
		t.sums.add(one, float64(w))
		t.weight += float64(w)
	}
}

// fold adds up the blocks and counts of all ranks, in the order of the blocks.
func (e *Evaluator) fold(size int) error {
	e.blocks.reset(0, e.classes())
	e.counts.Reset()
	for rank := range size {
		first, last := input.EvalBlocks(e.Data.Facts().Records, rank, size)
		bad := e.blocks.total().bad
		b, err := e.blocks.decode(e.gathered.At(rank)[codeBytes:], blocksBefore(last))
		if err == nil {
			bad = e.blocks.total().bad - bad
			err = addCells(&e.counts, b, last-first-int(bad), e.classes())
		}
		if err != nil {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent for the evaluation of records %d to %d: %w", rank, first, last, err))
		}
	}
	return nil
}
