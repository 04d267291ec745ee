package job

import (
	"fmt"
	"strconv"
)

// bestF1 is the value of eval.threshold that has it found.
const bestF1 = "best_f1"

// Threshold is the score above which a record of two classes is predicted as the second: a number, or that of the best
// F1 of the validation records.
type Threshold struct {
	Number float64 // with BestF1 the one that decides until the best is found
	BestF1 bool
}

// UnmarshalText reads a number or "best_f1".
func (t *Threshold) UnmarshalText(text []byte) error {
	if string(text) == bestF1 {
		*t = Threshold{0.5, true}
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(x >= 0 && x < 1) {
		return fmt.Errorf("is %s, want 0 or more and below 1, or %s", abbreviated(string(text)), bestF1)
	}
	*t = Threshold{Number: x}
	return nil
}

// String returns the form that UnmarshalText reads.
func (t Threshold) String() string {
	if t.BestF1 {
		return bestF1
	}
	return strconv.FormatFloat(t.Number, 'g', -1, 64)
}

func (t Threshold) check(f *faults, j *Config) {
	classes := j.knownClasses()
	switch {
	case t == Threshold{Number: 0.5}:
	case classes >= 0 && classes != 2:
		f.add("eval.threshold is %v, want 0.5, the default: only the score of two classes is compared with it", t)
	case t.BestF1 && !j.HasValidation() && !j.Eval.Training:
		f.add("eval.threshold is %s, which needs validation records: add input.split, as in {share: 0.1}", bestF1)
	}
}
