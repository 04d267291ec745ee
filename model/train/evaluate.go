package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
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
	Name  string // of the data set in input.evals, "" for the others
	TopK  int    // that top_k counts, where there are more classes; 0: none

	load   func() error // reads what of Data is still in its files; nil: all is read
	batch  input.Batch
	mine   []byte
	all    ring.Gathered
	scores []float32
	labels []float32
	counts model.Confusion // of this rank, and then of all
}

// A rank sends an exit code as int64, little-endian: 0, and then the results of its
// blocks, or that of the error that it has met, and then its text. So one bad record
// is known to all ranks, and none waits for another.
//
// A block's result, little-endian: the sum of its losses, that of its log losses, the
// number of records that are predicted rightly, and of those whose class is in the top
// k; then for binary models each record's score and label:
//
//	0         8         16        24        32
//	┌─────────┬─────────┬─────────┬─────────┬───────┬───────┬───
//	│ loss f64│ log f64 │right i64│ top i64 │ score │ label │ … f32
//	└─────────┴─────────┴─────────┴─────────┴───────┴───────┴───
//
// Behind the blocks are the rank's counts for models of classes: see tally.go.
const (
	codeBytes         = 8
	blockResultBytes  = 32
	recordResultBytes = 8
)

// Run evaluates the model. It is a collective operation. If the records of a rank cannot
// be read the error is the same on all ranks, a [ring.Cause] of that rank.
func (e *Evaluator) Run(ctx context.Context, g *ring.Group) (Metrics, error) {
	m := g.Membership()
	err := e.share(ctx, m)
	if ctx.Err() != nil {
		return Metrics{}, context.Cause(ctx)
	}
	if err != nil {
		text := err.Error()
		e.mine = binary.LittleEndian.AppendUint64(e.mine[:0], uint64(exitcode.Of(err)))
		e.mine = append(e.mine, text[:min(len(text), maxFailure)]...)
	}
	if err := g.AllGather(ctx, e.mine, &e.all); err != nil {
		return Metrics{}, err
	}
	if err := e.failure(m); err != nil {
		return Metrics{}, err
	}
	return e.fold(m.Size())
}

// share puts the results of this rank's blocks into e.mine.
func (e *Evaluator) share(ctx context.Context, m ring.Membership) error {
	e.mine = append(e.mine[:0], make([]byte, codeBytes)...)
	if e.load != nil {
		if err := e.load(); err != nil {
			return err
		}
	}
	e.counts.Reset()
	first, last := input.EvalBlocks(e.Data.Len(), m.Rank, m.Size())
	for ; first < last && ctx.Err() == nil; first += input.EvalBlock {
		if err := e.block(first, min(first+input.EvalBlock, last)); err != nil {
			return err
		}
	}
	if ctx.Err() == nil && e.classes() > 0 {
		e.mine = appendCells(e.mine, e.counts.Cells())
	}
	return nil
}

// maxFailure bounds the text of an error, in bytes.
const maxFailure = 4 << 10

// An evalFailure is the error of an evaluation that a rank's records have failed: the
// variables are as they were.
type evalFailure struct{ *ring.Cause }

func (e evalFailure) Unwrap() error { return e.Cause }

// failure returns what the lowest rank that has failed has met, nil if none has.
func (e *Evaluator) failure(m ring.Membership) error {
	for rank := range m.Size() {
		b := e.all.At(rank)
		if len(b) < codeBytes {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes for the evaluation, want %d or more", rank, len(b), codeBytes))
		}
		if code := binary.LittleEndian.Uint64(b); code != 0 {
			c := &ring.Cause{
				Rank: rank, Host: m.Workers[rank].Host, Step: -1, Operation: "evaluate",
				Text: strings.ToValidUTF8(string(b[codeBytes:]), "?"), ExitCode: int(min(code, 255)),
			}
			return exitcode.With(c.ExitCode, evalFailure{c})
		}
	}
	return nil
}

func (e *Evaluator) binary() bool { return e.Model.Graph().Head.Kind == graph.HeadBinary }

// block appends the result of the block of records [first, last) to e.mine.
func (e *Evaluator) block(first, last int) error {
	if err := readRecords(&e.batch, e.Data, first, last); err != nil {
		return err
	}
	loss := e.Model.Evaluate(&e.batch.X, e.batch.Y)
	scores := e.Model.Scores()
	t := tally{loss: loss}
	if e.Model.Graph().Head.Kind != graph.HeadRegression {
		t.right, t.logLoss = model.Correct(scores, e.batch.Y), model.LogLoss(scores, e.batch.Y)
	}
	if e.classes() > 0 {
		t.top = model.InTopK(scores, e.batch.Y, e.TopK)
		e.counts.Count(scores, e.batch.Y)
	}
	e.mine = t.append(e.mine)
	if !e.binary() {
		return nil
	}
	le := binary.LittleEndian
	for i, y := range e.batch.Y {
		e.mine = le.AppendUint32(e.mine, math.Float32bits(scores.Data[i]))
		e.mine = le.AppendUint32(e.mine, math.Float32bits(y))
	}
	return nil
}

// readRecords replaces b by the records [first, last).
func readRecords(b *input.Batch, d input.Dataset, first, last int) error {
	b.Reset()
	records := make([]int, last-first)
	for i := range records {
		records[i] = first + i
	}
	if err := input.AppendRecords(b, d, records); err != nil {
		return err
	}
	b.X.Bags.Index()
	return nil
}

// fold adds the blocks of all ranks up, in their order.
func (e *Evaluator) fold(size int) (Metrics, error) {
	var sum tally
	e.scores, e.labels = e.scores[:0], e.labels[:0]
	e.counts.Reset()
	for rank := range size {
		b := e.all.At(rank)
		first, last := input.EvalBlocks(e.Data.Len(), rank, size)
		if want := e.resultBytes(first, last); len(b) < want || e.classes() == 0 && len(b) != want {
			return Metrics{}, exitcode.With(exitcode.Protocol,
				fmt.Errorf("rank %d sent %d bytes for the evaluation of records %d to %d, want %d", rank, len(b), first, last, want))
		}
		b = b[codeBytes:]
		records := last - first
		for ; first < last; first += input.EvalBlock {
			b = sum.add(b)
			if e.binary() {
				b = e.pairs(b, min(input.EvalBlock, last-first))
			}
		}
		if err := takeCells(&e.counts, b, records, e.classes()); err != nil {
			return Metrics{}, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %w", rank, err))
		}
	}
	return e.metrics(sum), nil
}

// resultBytes is the length of what a rank sends for whole blocks, the records
// [first, last).
func (e *Evaluator) resultBytes(first, last int) int {
	n := codeBytes + (last-first+input.EvalBlock-1)/input.EvalBlock*blockResultBytes
	if e.binary() {
		n += (last - first) * recordResultBytes
	}
	return n
}

// pairs takes the scores and labels of n records off the front of b.
func (e *Evaluator) pairs(b []byte, n int) (rest []byte) {
	le := binary.LittleEndian
	for range n {
		e.scores = append(e.scores, math.Float32frombits(le.Uint32(b)))
		e.labels = append(e.labels, math.Float32frombits(le.Uint32(b[4:])))
		b = b[recordResultBytes:]
	}
	return b
}
