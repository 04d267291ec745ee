package records

import (
	"errors"
	"fmt"

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
	all := s.Train
	held := partsOf(all, split)
	s.Without = held.Without()
	wanted := append(split.Held(), input.Training)
	views := input.Shared(all, len(wanted))
	for i, part := range wanted {
		d := held.View(views[i], part)
		views[i] = d
		switch part {
		case input.Training:
			s.Train = d
		case input.Validation:
			s.Eval, s.Split = d, part.String()
		case input.Test:
			s.Test = d
		}
		if d.Facts().Records == 0 {
			return Set{}, errors.Join(emptyPart(part, split, all.Facts().Records), all.Close())
		}
	}
	return s, nil
}

// partsOf returns the parts of the records of d: those by which its reader has learnt, or those of the numbers.
func partsOf(d input.Dataset, split *input.Split) *input.Parts {
	facts := d.Facts()
	if facts.Parts != nil {
		return facts.Parts
	}
	return split.Parts(facts.Records)
}

// emptyPart is the error of a part that has none of so many records.
func emptyPart(part input.Part, split *input.Split, records int) error {
	name := [...]string{"training", "validation", "test"}[part]
	return exitcode.With(exitcode.BadData, fmt.Errorf("input.split: no %s records: %s of %d records", name, split, records))
}
