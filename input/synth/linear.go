package synth

import (
	"fmt"

	"ringtrain/input"
)

// LinearRecords is the number of records of Linear.
const LinearRecords = 100

type linear struct {
	seed uint64
	x, y [LinearRecords]float32
}

// Linear returns the points of a noisy line: y = 2x + 10 + 0.33·noise, with
// [LinearRecords] equidistant values of x in [-1, 1], ascending, and approximately
// normal noise of variance 1. The dense feature is x, the label y.
func Linear(seed uint64) input.Dataset {
	d := &linear{seed: seed}
	r := newSource(seed, streamTrain)
	for i := range d.x {
		x := float64(2*i-(LinearRecords-1)) / (LinearRecords - 1)
		noise := r.normal()
		d.x[i] = float32(x)
		d.y[i] = float32(float64(2*x) + 10 + float64(0.33*noise))
	}
	return d
}

func (l *linear) Facts() input.Facts {
	return input.Facts{
		Records: LinearRecords, Features: 1, InMemory: true,
		Manifest: []string{fmt.Sprintf("synthetic-linear-seed-%d %d %d", l.seed, 8*LinearRecords, LinearRecords)},
	}
}

func (l *linear) Close() error { return nil }

func (l *linear) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		b.DenseRow(1)[0] = l.x[i]
		b.Y = append(b.Y, l.y[i])
	}
	return nil
}
