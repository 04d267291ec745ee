package records

import (
	"errors"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// NoValidation tells what to do for an evaluation.
const NoValidation = "no validation records: add input.split, as in {share: 0.1}"

// ErrNoValidation is the error of a command that needs validation records.
var ErrNoValidation = exitcode.With(exitcode.Usage, errors.New(NoValidation))

// KeyOf returns the key that says which records of a job a split has.
func KeyOf(cfg *job.Config, split string) string {
	switch {
	case split == input.Test.String():
		return "input.split.test"
	case split == input.Validation.String() && cfg.Input.Split.Validates():
		return "input.split"
	}
	return "input." + split
}

// evaluateTraining has the training records evaluated if there are no validation records and the job asks for
// it.
func (s *Set) evaluateTraining(cfg *job.Config) {
	if s.Eval == nil && cfg.Eval.Training {
		s.Eval, s.Split = s.Train, input.Training.String()
	}
}

// divide returns the set whose training records, of which s has all, are divided by a split. It closes them if it
// fails.
func (s Set) divide(split *input.Split) (Set, error) {
	s.Without = s.Train.Facts().Parts.Without()
	all, err := input.Divide(s.Train, split)
	if err != nil {
		return Set{}, err
	}
	s.Train, s.Test = all[input.Training], all[input.Test]
	if split.Validates() {
		s.Eval, s.Split = all[input.Validation], input.Validation.String()
	}
	return s, nil
}
