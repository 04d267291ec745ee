package evaluate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Evaluator computes metrics over a whole data set, shared among the ranks.
//
// The records are divided into blocks of input.EvalBlock. One rank evaluates a whole block. Sums are
// kept per block and folded in the order of the blocks. So for equal variables the result has the same
// bits at any world size. No codec is used.
type Evaluator struct {
	Model *model.Model
	Data  input.Dataset
	Split string // "train" or "eval"
	Name  string // name of the data set in input.evals, "" for other data sets
	TopK  int    // number of scores for top_k, used if there are more classes; 0: none

	Load     func() error // reads the part of Data that is still in its files; nil: all is read
	batch    input.Batch
	sent     []byte
	gathered ring.Gathered
	blocks   blockSums       // of this rank, and then of all
	counts   model.Confusion // of this rank, and then of all
	ranking  model.Ranking   // of this rank
}

// A rank sends an exit code as int64, little-endian. After code 0 it sends the sums of its blocks and
// its counts of classes. After the code of an error it sends the text of the error. So all ranks learn
// of a bad record, and no rank waits for another. Scores follow in pieces: see area.go.
const codeBytes = 8

// Run evaluates the model. It is a collective operation. If a rank cannot read its records, all ranks
// return the same error, a [ring.Cause] of that rank.
func (e *Evaluator) Run(ctx context.Context, g *ring.Group) (report.Metrics, error) {
	m := g.Membership()
	err := e.evaluateShare(ctx, m)
	if ctx.Err() != nil {
		return report.Metrics{}, context.Cause(ctx)
	}
	if err != nil {
		text := err.Error()
		e.sent = binary.LittleEndian.AppendUint64(e.sent[:0], uint64(exitcode.Of(err)))
		e.sent = append(e.sent, text[:min(len(text), maxFailure)]...)
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
	sum, area := e.blocks.total(), math.NaN()
	if e.binary() && sum.undefined == 0 {
		if area, err = AreaUnderCurve(ctx, g, &e.ranking); err != nil {
			return report.Metrics{}, err
		}
	}
	return e.metrics(&sum, area), nil
}

// evaluateShare puts the results of this rank's blocks into e.sent.
func (e *Evaluator) evaluateShare(ctx context.Context, m ring.Membership) error {
	e.sent = append(e.sent[:0], make([]byte, codeBytes)...)
	if e.Load != nil {
		if err := e.Load(); err != nil {
			return err
		}
	}
	e.counts.Reset()
	e.ranking.Reset()
	first, last := input.EvalBlocks(e.Data.Len(), m.Rank, m.Size())
	e.blocks.reset(blocksBefore(first))
	for ; first < last && ctx.Err() == nil; first += input.EvalBlock {
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

func (e Failure) Unwrap() error { return e.Cause }

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
				Text: strings.ToValidUTF8(string(b[codeBytes:]), "?"), ExitCode: int(min(code, 255)),
			}
			return exitcode.With(c.ExitCode, Failure{c})
		}
	}
	return nil
}

func (e *Evaluator) binary() bool { return e.Model.Graph().Head.Kind == graph.HeadBinary }

// block adds the block of records [first, last) to the sums of this rank.
func (e *Evaluator) block(first, last int) error {
	if err := ReadRecords(&e.batch, e.Data, first, last); err != nil {
		return err
	}
	y := e.batch.Y
	t := tally{loss: e.Model.Evaluate(&e.batch.X, y)}
	scores := e.Model.Scores()
	if e.classes() > 0 {
		t.right, t.logLoss = model.Correct(scores, y), model.LogLoss(scores, y)
		e.counts.Count(scores, y)
	}
	if e.binary() {
		t.calibration.Add(scores.Data, y)
		e.ranking.Add(scores.Data, y)
		for _, s := range scores.Data {
			if s != s {
				t.undefined++
			}
		}
	} else if e.classes() > 0 {
		t.top = model.InTopK(scores, y, e.TopK)
	}
	e.blocks.add(0, &t)
	return nil
}

// ReadRecords replaces b by the records [first, last) of d.
func ReadRecords(b *input.Batch, d input.Dataset, first, last int) error {
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

// fold adds up the blocks and counts of all ranks, in the order of the blocks.
func (e *Evaluator) fold(size int) error {
	e.blocks.reset(0)
	e.counts.Reset()
	for rank := range size {
		first, last := input.EvalBlocks(e.Data.Len(), rank, size)
		b, err := e.blocks.decode(e.gathered.At(rank)[codeBytes:], blocksBefore(last))
		if err == nil {
			err = addCells(&e.counts, b, last-first, e.classes())
		}
		if err != nil {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent for the evaluation of records %d to %d: %w", rank, first, last, err))
		}
	}
	return nil
}
