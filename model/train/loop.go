package train

import (
	"context"
	"time"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/optimizer"
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

	Step  int64 // completed steps
	Steps int64 // to be completed in all

	// Request says what this rank asks of all ranks after the coming step.
	Request func() Request

	// After is called on every rank after each step with what the ranks have
	// agreed on. It returns false to end the loop.
	After func(ctx context.Context, a Agreed) (goOn bool, err error)

	rows  rowUnion
	times times
}

// Request is what a rank asks of all ranks after a step.
type Request struct {
	Stop       int // exit code to stop with, 0 to go on
	Checkpoint bool
	Evaluate   bool
}

// times is where the time of the steps went.
type times struct{ input, compute, reduce time.Duration }

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
		read := time.Now()
		l.Reducer.Begin(ctx)
		loss := l.Model.Forward(&b.X, b.Y)
		l.Reducer.Report(l.tail(loss, len(b.Y)))
		l.Model.Backward(b.Weight, ready) // full buckets leave while backward goes on
		computed := time.Now()
		if err := l.Reducer.Wait(); err != nil {
			return err
		}
		agreed, err := l.agree(&b)
		if err != nil {
			return err
		}
		rows, err := l.rows.gather(ctx, l.Group, l.Model.Variables(), &b.X)
		if err != nil {
			return err
		}
		reduced := time.Now()
		l.Optimizer.Apply(l.Schedule.Rate(l.Step), rows) // same input, same result, on every rank
		l.Step++
		l.times.add(read.Sub(start), computed.Sub(read)+time.Since(reduced), reduced.Sub(computed))
		if goOn, err := l.After(ctx, agreed); err != nil || !goOn {
			return err
		}
	}
	return nil
}

func (t *times) add(input, compute, reduce time.Duration) {
	t.input += input
	t.compute += compute
	t.reduce += reduce
}

// tail is what this rank tells the others in the coming step.
func (l *Loop) tail(loss float64, examples int) bucket.Tail {
	q := l.Request()
	return bucket.Tail{
		Loss: loss, Examples: int64(examples),
		Stop: int32(q.Stop), Checkpoint: q.Checkpoint, Evaluate: q.Evaluate,
	}
}
