package job

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/model/keys"
)

// Check returns all faults of the job at once. Each error begins with the key of the fault.
func (j *Config) Check() error {
	return errors.Join(
		j.Model.Check(j.Loss),
		j.Input.check(j.Model.Sparse()),
		j.Input.checkFields(j.Model.Fields),
		j.Optimizer.Check(),
		j.Schedule.Check(),
		j.AllReduce.Check(),
		j.checkTrain(),
		j.checkLists(),
	)
}

// checkTrain returns the faults of the keys of training and of what it writes.
func (j *Config) checkTrain() error {
	t := j.Train
	if t.Steps > 0 && t.Epochs == 0 {
		t.Epochs = 1 // it counts no more
	}
	f := faults(slices.Concat(keys.Check("train", &t), keys.Check("eval", &j.Eval), keys.Check("checkpoint", &j.Checkpoint), keys.Check("export", &j.Export)))
	j.checkClassWeights(&f)
	j.Train.Average.check(&f)
	j.Train.InitFrom.check(&f)
	j.Train.EarlyStopping.check(&f, j)
	return f.err()
}

// faults collects errors to report them together.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f faults) err() error { return errors.Join(f...) }
