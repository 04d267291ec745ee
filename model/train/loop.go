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

// Loop trains one replica in step with those of the other ranks: all start from the same bits, sum the
// same gradients and apply the same update.
type Loop struct {
	Source    *input.Source
	Model     *model.Model
	Reducer   *bucket.Reducer
	Optimizer *optimizer.Optimizer
	Schedule  optimizer.Schedule
	Group     *ring.Group

	Seed  uint64 // of the run
	Step  int64  // completed steps
	Steps int64  // to be completed in all

	CheckEvery int64 // steps between comparisons of the replicas; 0: none

	// Adjust changes the summed gradients before the update. Updated runs after the update. Both
	// do the same on every rank and may be nil. Rows are the gradients of variables by rows, nil
	// without such variables; Adjust sets what the optimizer does to them.
	Adjust  func(rows *optimizer.RowGrad)
	Updated func(rows *optimizer.RowGrad)

	// Seen counts the records of this rank in the epoch.
	Seen input.Counts

	// Request returns the requests of this rank to all ranks for the end of the coming step.
	Request func() Request

	// OnScores receives the scores of the examples of a share from number first on, before they are
	// learned. It may be nil.
	OnScores func(scores tensor.Matrix, b *input.Batch, first int)

	// After is called on every rank after each step with the facts that the ranks agreed on. It returns
	// false to end the loop.
	After func(ctx context.Context, a Agreed) (goOn bool, err error)

	Weights   classWeights // of examples, by class
	Parts     int          // number of parts in which a share is computed, one after the other; 0 or 1: whole
	partition partition

	Mix      uint64 // running digest of the updated rows, if replicas are compared
	rows     optimizer.RowGrad
	rate     float32 // of the last update
	summed   int64   // step of rows, counted from 1; 0: none yet
	hasher   *hasher // nil until the first comparison
	last     times   // of the last step
	firstBad error   // fault of this rank's first bad record of the epoch

	loads loads
	told  int64 // bytes sent that the tails have told

	pulse pulse
	lost  lost          // until the end of the last exchange
	busy  time.Duration // from the exchange before it to its begin, and without a core in it
}

// Request is what one rank asks of all ranks after a step, and what it tells them.
type Request struct {
	Stop       int // exit code to stop with, 0 to go on
	Checkpoint bool
	Evaluate   bool
	Saved      bool // rank 0 has saved the state before the step

	// Of this rank, not merged: see run.renewKeys.
	OldKeys, WornKeys, Unreached bool
	Memory                       int64 // as in bucket.Tail
}

// times divides the time of steps: input, compute and exposed are all of it. Update is the part of
// compute after the exchange. Reduce is the whole exchange; training waited for the exposed part of
// it, and backward hid the rest.
type times struct{ input, compute, update, reduce, exposed time.Duration }

func (t *times) add(u times) {
	t.input += u.input
	t.compute += u.compute
	t.update += u.update
	t.reduce += u.reduce
	t.exposed += u.exposed
}

// all returns the whole time.
func (t times) all() time.Duration { return t.input + t.compute + t.exposed }

// hiddenShare returns the share of the exchange that backward hid, 0 without an exchange.
func (t times) hiddenShare() float64 {
	if t.reduce <= 0 {
		return 0
	}
	return max(0, 1-t.exposed.Seconds()/t.reduce.Seconds())
}

// Run trains until Steps are done, After ends the loop, or an error occurs. A step allocates nothing.
func (l *Loop) Run(ctx context.Context) error {
	var b input.Batch
	ready := l.Reducer.Ready // once: a method value is allocated
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.pulse.due = time.Now().Add(pulseEvery)
	go l.pulse.run(ctx)
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
		lost := l.pulse.lost(computed)
		if err := l.Reducer.Wait(); err != nil {
			return err
		}
		waited := time.Now()
		paused := lost.paused - l.lost.paused
		l.lost = l.pulse.lost(waited)
		l.busy = l.last.update + computed.Sub(start) - paused + l.lost.late - lost.late
		agreed, err := l.agree(&b)
		if err != nil {
			return err
		}
		l.update()
		l.Step++
		if b.Offset == 0 {
			l.Seen.Reset()
		}
		l.Seen.Add(&b)
		update := time.Since(waited)
		l.last = times{
			input: read.Sub(start), compute: computed.Sub(read) + update, update: update,
			reduce: l.Reducer.Reduced(), exposed: waited.Sub(computed),
		}
		if goOn, err := l.After(ctx, agreed); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// update changes the variables. Equal input gives an equal result on every rank.
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

// tail returns the facts that this rank sends to the others in the coming step. Losses are those of
// the examples, loss is their sum, and layer is the result of nonFiniteLayer.
func (l *Loop) tail(loss float64, losses []float64, layer int32, b *input.Batch) bucket.Tail {
	q := l.Request()
	t := bucket.Tail{
		Loss: loss, Examples: int64(len(b.Y)), Bad: uint32(b.Lost), Record: l.nonFiniteRecord(loss, losses, b), Layer: layer,
		Busy: l.busy, Sent: l.sentSince(), Memory: q.Memory,
		Stop: int32(q.Stop), Checkpoint: q.Checkpoint, Evaluate: q.Evaluate, Saved: q.Saved,
		OldKeys: q.OldKeys, WornKeys: q.WornKeys, Unreached: q.Unreached,
	}
	if l.checkDue() {
		t.Digest = l.tailDigest()
	}
	return t
}

// sentSince returns the bytes that this rank has sent since its tail before, in whole units of a tail.
func (l *Loop) sentSince() int64 {
	total, _ := l.Group.SentBytes()
	since := (total - l.told) / bucket.SentUnit * bucket.SentUnit
	l.told += since
	return since
}
