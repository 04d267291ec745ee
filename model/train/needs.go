package train

import (
	"fmt"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/limits"
)

// slotsOf is the number of slots of a variable that an optimizer keeps.
var slotsOf = map[string]int{
	"sgd": 0, "momentum": 1, "adagrad": 1, "adadelta": 2, "adam": 2, "adamw": 2, "ftrl": 2, "rmsprop": 3,
}

// needs is what the variables of so many ranks of a host take, in bytes: values, gradients,
// slots and averages. What a batch takes comes on top.
func (t *Trainer) needs(ranks int) int64 {
	copies := 2 + slotsOf[t.job.Optimizer.Name]
	if t.job.Train.Average.Decay > 0 {
		copies++
	}
	return 4 * int64(t.model.Graph().Parameters()) * int64(copies) * int64(ranks)
}

// wantMemory fails if the variables of this host's ranks need more memory than is left: before
// it is taken, since a process that takes too much is killed without a word.
func (t *Trainer) wantMemory(ranks int, free int64) error {
	need := t.needs(ranks)
	if need <= free {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf(
		"the model has %d parameters and needs %s with gradients and the slots of %s, for %d ranks on this host; %s are left: want a smaller model, or fewer ranks a host",
		t.model.Graph().Parameters(), gib(need), t.job.Optimizer.Name, ranks, gib(free)))
}

// gib is a number of bytes for people.
func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// checkMemory is wantMemory with what this host has left.
func (t *Trainer) checkMemory(ranks int) error {
	free, known := limits.Free()
	if !known {
		return nil
	}
	return t.wantMemory(ranks, free)
}
