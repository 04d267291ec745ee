package job

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"ringtrain/model/keys"
)

// Check returns all faults of the job at once. Each error begins with the key of the fault.
func (cfg *Config) Check() error {
	return errors.Join(
		cfg.Model.Check(cfg.Loss),
		cfg.Input.check(cfg.ReadsIDs()),
		cfg.Input.checkFields(cfg.Model.Fields),
		cfg.Optimizer.Check(),
		cfg.Schedule.Check(),
		cfg.AllReduce.Check(),
		cfg.checkTrain(),
		cfg.checkDrawn(),
		cfg.checkScale(),
		cfg.checkReads(),
		errors.Join(checkNames(reflect.ValueOf(cfg).Elem())...),
	)
}

// checkTrain returns the faults of the keys of training and of what it writes.
func (cfg *Config) checkTrain() error {
	t := cfg.Train
	if t.Steps > 0 && t.Epochs == 0 {
		t.Epochs = 1 // it counts no more
	}
	f := faults(slices.Concat(keys.Check("train", &t), keys.Check("eval", &cfg.Eval), keys.Check("checkpoint", &cfg.Checkpoint), keys.Check("export", &cfg.Export)))
	cfg.checkClassWeights(&f)
	cfg.Train.Average.check(&f)
	cfg.Train.InitFrom.check(&f)
	cfg.Train.EarlyStopping.check(&f, cfg)
	cfg.Export.If.check(&f, cfg)
	cfg.Eval.Threshold.check(&f, cfg)
	return f.err()
}

// checkDrawn returns the fault of names of classes for records that are drawn, whose labels are numbers from 0.
func (cfg *Config) checkDrawn() error {
	if !cfg.Input.Synthetic || !cfg.Model.Named() {
		return nil
	}
	return fmt.Errorf("model.classes is %s, want a number, or none, with input.synthetic", cfg.Model.Classes)
}

// faults collects errors to report them together.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f faults) err() error { return errors.Join(f...) }
