package train

import (
	"context"
	"time"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/optimizer"
	"ringtrain/model/tensor"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
)

// Loop trains one replica, in step with those of the other ranks: all start
// from the same bits, sum the same gradients and apply the same update.
type Loop struct {
	Source    *input.Source
	Model     *model.Model
	Reducer   *bucket.Reducer
	Optimizer optimizer.Optimizer
	Schedule  optimizer.Schedule
	Group     *ring.Group

	Seed  uint64 // of the run
	Step  int64  // completed steps
	Steps int64  // to be completed in all

	CheckEvery int64 // steps between comparisons of the replicas; 0: none

	// Adjust changes the sums of a step before the update, and Updated follows it. Both
	// do the same on every rank, and may be nil. Rows are those of variables by rows, nil
	// without any: Adjust says what the optimizer does to them.
	Adjust  func(rows *optimizer.RowGrad)
	Updated func(rows *optimizer.RowGrad)

	// Request says what this rank asks of all ranks after the coming step.
	Request func() Request

	// See is called with the scores of a share's examples from the first given on, before they
	// are learned. It may be nil.
	OnScores func(scores tensor.Matrix, b *input.Batch, first int)

	// After is called on every rank after each step with what the ranks have
	// agreed on. It returns false to end the loop.
	After func(ctx context.Context, a Agreed) (goOn bool, err error)

	Weights   classWeights // of examples, by class
	Parts     int          // that a share is computed in, one after the other; 0 or 1: whole
	partition partition

	Mix      uint64 // running digest of the rows that were touched, where replicas are compared
	rows     optimizer.RowGrad
	rate     float32 // of the last update
	summed   int64   // the step that l.rows is of, counted from 1; 0: none yet
	hasher   *hasher // nil before the first comparison
	last     times   // of the last step
	firstBad error   // of this rank's first bad record of the epoch
}

// Request is what a rank asks of all ranks after a step.
type Request struct {
	Stop       int  // exit code to stop with, 0 to go on
	Depart     bool // to go while the others stay
	Checkpoint bool
	Evaluate   bool
}

// times is where the time of steps went: input, compute and exposed are all of
// it. Update is the part of compute after the exchange. Reduce is the whole exchange, of which exposed is what training waited
// for, and backward hid the rest.
type times struct{ input, compute, update, reduce, exposed time.Duration }

func (t *times) add(u times) {
	t.input += u.input
	t.compute += u.compute
	t.update += u.update
	t.reduce += u.reduce
	t.exposed += u.exposed
}

// hidden is the share of the exchange that backward hid, 0 if there was none.
func (t times) hiddenShare() float64 {
	if t.reduce <= 0 {
		return 0
	}
	return max(0, 1-t.exposed.Seconds()/t.reduce.Seconds())
}

// Run trains until Steps are done, After ends it, or something fails. Nothing
// is allocated per step.
func (l *Loop) Run(ctx context.Context) error {
	var b input.Batch
	ready := l.Reducer.Ready // a method value is allocated: once will do
	for l.Step < l.Steps {
		start := time.Now()
		if err := l.Source.Next(ctx, &b); err != nil {
			return err
		}
		l.recordBad(&b)
		read := time.Now()
		l.Reducer.Begin(ctx)
		l.placeRows(b.X.Bags.IDs)
		l.compute(&b, ready)
		computed := time.Now()
		if err := l.Reducer.Wait(); err != nil {
			return err
		}
		waited := time.Now()
		agreed, err := l.agree(&b)
		if err != nil {
			return err
		}
		l.update()
		l.Step++
		update := time.Since(waited)
		l.last = times{
			input: read.Sub(start), compute: computed.Sub(read) + update, update: update,
			reduce: l.Reducer.Stats().Reduce, exposed: waited.Sub(computed),
		}
		if goOn, err := l.After(ctx, agreed); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// update changes the variables: same input, same result, on every rank.
func (l *Loop) update() {
	rows := l.takeRows()
	l.summed, l.rate = l.Step+1, l.Schedule.Rate(l.Step)
	if l.Adjust != nil {
		l.Adjust(rows)
	}
	l.Optimizer.Apply(l.rate, rows)
	if rows != nil && rows.Mix {
		l.Mix = mixDigest(l.Mix, rows.Mixed)
	}
	if l.Updated != nil {
		l.Updated(rows)
	}
}

// tail is what this rank tells the others in the coming step. Losses are those of the
// examples, loss is their sum, and layer what badLayer says.
func (l *Loop) tail(loss float64, losses []float64, layer int32, b *input.Batch) bucket.Tail {
	q := l.Request()
	t := bucket.Tail{
		Loss: loss, Examples: int64(len(b.Y)), Bad: uint32(b.Bad), Record: l.nonFiniteRecord(loss, losses, b), Layer: layer,
		Stop: int32(q.Stop), Depart: q.Depart, Checkpoint: q.Checkpoint, Evaluate: q.Evaluate,
	}
	if l.checkDue() {
		t.Digest = l.tailDigest()
	}
	return t
}
