package train

import (
	"math"

	"ringtrain/export/checkpoint"
	"ringtrain/model/train/report"
)

// epochSum is what an epoch has come to by now, over all ranks. It is part of the
// state, as the position is: so its mean has the bits of a run without a stop.
type epochSum struct {
	loss     float64
	examples int64
	bad      int64 // records
}

// add counts one step.
func (s *epochSum) add(a Agreed) {
	if a.First {
		*s = epochSum{}
	}
	s.loss += a.Loss
	s.examples += a.Examples
	s.bad += a.Bad
}

// mean is the loss per example, NaN where there was none.
func (s epochSum) mean() report.Number {
	if s.examples == 0 {
		return report.Number(math.NaN())
	}
	return report.Number(s.loss / float64(s.examples))
}

// stored is the sum as a checkpoint has it.
func (s epochSum) stored() *checkpoint.EpochSum {
	return &checkpoint.EpochSum{Loss: checkpoint.Sum(s.loss), Examples: s.examples, Bad: s.bad}
}

// restoredEpoch is the inverse of stored. A checkpoint that has none is from before
// it was stored: the mean is that of what is trained from then on.
func restoredEpoch(s *checkpoint.EpochSum) epochSum {
	if s == nil {
		return epochSum{}
	}
	return epochSum{float64(s.Loss), s.Examples, s.Bad}
}
