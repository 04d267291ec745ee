package job

import (
	"errors"
	"fmt"
	"math"

	"ringtrain/input"
	"ringtrain/model/internal/kernel"
)

// Upper bounds of options. Products of two of them, or with a world size, cannot overflow. Only batches
// that are read ahead make a list of the given length.
const (
	maxBatch    = 1 << 30
	maxEpochs   = 1 << 30
	maxPrefetch = 1 << 10
	maxIDs      = input.MaxFeatures
	maxTopK     = 1 << 20
	maxShape    = 1 << 20 // of each axis
	maxWidth    = 1 << 28 // of a record of input.shape: 1 GiB
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
		j.checkNumbers(),
		j.checkTrain(),
		j.checkLists(),
	)
}

func (j *Config) checkNumbers() error {
	var f faults
	if j.Train.Steps < 0 {
		f.add("train.steps is %d, want 0 or more", j.Train.Steps)
	}
	if j.Train.Steps == 0 {
		f.wantBetween("train.epochs", j.Train.Epochs, 1, maxEpochs)
	}
	if _, err := kernel.ParseSet(j.Train.Kernels); err != nil && j.Train.Kernels != Auto {
		f.add("train.kernels is %q, want auto, portable, avx2 or avx512", j.Train.Kernels)
	}
	if j.Train.CheckEvery < 0 {
		f.add("train.check_every is %d, want 0 or more", j.Train.CheckEvery)
	}
	f.wantBetween("eval.top_k", j.Eval.TopK, 0, maxTopK)
	if j.Export.If != Sound && j.Export.If != Always {
		f.add("export.if is %q, want %s or %s", j.Export.If, Sound, Always)
	}
	if j.Checkpoint.Keep < 1 {
		f.add("checkpoint.keep is %d, want 1 or more", j.Checkpoint.Keep)
	}
	return f.err()
}

// checkTrain returns the faults of the keys of training, except those of its length.
func (j *Config) checkTrain() error {
	var f faults
	f.wantFinite("train.clip_norm", j.Train.ClipNorm)
	f.wantFloat32("train.clip_value", j.Train.ClipValue)
	f.wantBetween("train.accumulate", j.Train.Accumulate, 1, maxBatch)
	j.checkClassWeights(&f)
	j.Train.Average.check(&f)
	j.Train.InitFrom.check(&f)
	j.Train.EarlyStopping.check(&f, j)
	return f.err()
}

// faults collects errors to report them together.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f *faults) wantBetween(key string, value, least, most int) {
	if value < least || value > most {
		f.add("%s is %d, want %d to %d", key, value, least, most)
	}
}

// wantFinite adds a fault unless value is finite and 0 or more.
func (f *faults) wantFinite(key string, value float64) {
	if !(value >= 0) || math.IsInf(value, 0) {
		f.add("%s is %v, want 0 or more", key, value)
	}
}

// wantFloat32 adds a fault unless value is 0 or more and within the range of float32. A positive value
// must not round to 0.
func (f *faults) wantFloat32(key string, value float64) {
	if !(value >= 0) || value > math.MaxFloat32 || value > 0 && float32(value) == 0 {
		f.add("%s is %v, want 0 or more, within the range of float32", key, value)
	}
}

func (f faults) err() error { return errors.Join(f...) }
