package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Evaluator computes metrics over a whole data set, shared among the ranks.
//
// The records are cut into blocks of input.EvalBlock, and each block is worked
// on by one rank whole. Sums are kept per block and folded in the order of the
// blocks, so that for equal variables the result has the same bits at any world
// size. Nothing goes through a codec.
type Evaluator struct {
	Model *model.Model
	Data  input.Dataset
	Split string // "train" or "eval"

	batch  input.Batch
	mine   []byte
	all    ring.Gathered
	scores []float32
	labels []float32
}

// A block's result is its loss and correct count, then for binary models each
// record's score and label:
//
//	0         8         16
//	┌─────────┬─────────┬───────┬───────┬───
//	│ loss f64│correct i│ score │ label │ …
//	└─────────┴─────────┴───────┴───────┴───
const blockResultBytes = 16

// Run evaluates the model. It is a collective operation.
func (e *Evaluator) Run(ctx context.Context, g *ring.Group) (Metrics, error) {
	m := g.Membership()
	first, last := input.EvalBlocks(e.Data.Len(), m.Rank, m.Size())
	e.mine = e.mine[:0]
	for at := first; at < last; at += input.EvalBlock {
		if err := ctx.Err(); err != nil {
			return Metrics{}, context.Cause(ctx)
		}
		if err := e.block(at); err != nil {
			return Metrics{}, err
		}
	}
	if err := g.AllGather(ctx, e.mine, &e.all); err != nil {
		return Metrics{}, err
	}
	return e.fold(m.Size())
}

func (e *Evaluator) binary() bool { return e.Model.Description().Head == model.HeadBinary }

// block appends the result of the block that begins at record first to e.mine.
func (e *Evaluator) block(first int) error {
	if err := readBlock(&e.batch, e.Data, first); err != nil {
		return err
	}
	loss := e.Model.Forward(&e.batch.X, e.batch.Y)
	scores := e.Model.Scores()
	correct := int64(0)
	if e.Model.Description().Head != model.HeadRegression {
		correct = model.Correct(scores, e.batch.Y)
	}
	le := binary.LittleEndian
	e.mine = le.AppendUint64(e.mine, math.Float64bits(loss))
	e.mine = le.AppendUint64(e.mine, uint64(correct))
	if e.binary() {
		for i, y := range e.batch.Y {
			e.mine = le.AppendUint32(e.mine, math.Float32bits(scores.Data[i]))
			e.mine = le.AppendUint32(e.mine, math.Float32bits(y))
		}
	}
	return nil
}

// readBlock reads the block that begins at record first into b.
func readBlock(b *input.Batch, d input.Dataset, first int) error {
	b.Reset()
	for i := first; i < min(first+input.EvalBlock, d.Len()); i++ {
		if err := d.Append(b, i); err != nil {
			return err
		}
	}
	return nil
}

// fold adds the blocks of all ranks up, in their order.
func (e *Evaluator) fold(size int) (Metrics, error) {
	le := binary.LittleEndian
	n := e.Data.Len()
	loss, correct, first := 0.0, int64(0), 0
	e.scores, e.labels = e.scores[:0], e.labels[:0]
	for r := range size {
		b := e.all.At(r)
		for len(b) > 0 {
			records := 0
			if e.binary() {
				records = min(n-first, input.EvalBlock)
			}
			if records < 0 || len(b) < blockResultBytes+8*records {
				return Metrics{}, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes for the block at record %d", r, len(b), first))
			}
			loss += math.Float64frombits(le.Uint64(b))
			correct += int64(le.Uint64(b[8:]))
			b = b[blockResultBytes:]
			for ; records > 0; records-- {
				e.scores = append(e.scores, math.Float32frombits(le.Uint32(b)))
				e.labels = append(e.labels, math.Float32frombits(le.Uint32(b[4:])))
				b = b[8:]
			}
			first += input.EvalBlock
		}
	}
	return e.metrics(loss, correct, int64(n)), nil
}

func (e *Evaluator) metrics(loss float64, correct, n int64) Metrics {
	m := Metrics{Split: e.Split, Examples: n, Loss: Number(loss / float64(n))}
	number := func(f float64) *Number { v := Number(f); return &v }
	switch e.Model.Description().Head {
	case model.HeadRegression:
		m.RMSE = number(model.RMSE(loss, n))
	case model.HeadBinary:
		m.AUC = number(model.AUC(e.scores, e.labels))
		fallthrough
	default:
		m.Correct, m.Accuracy = &correct, number(float64(correct)/float64(n))
	}
	return m
}
