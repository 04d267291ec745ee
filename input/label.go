package input

import (
	"fmt"
	"math"

	"ringtrain/ring/exitcode"
)

// Value returns the label v as a value of Batch.Y. An invalid label is an error with the
// valid range and the code exitcode.BadData.
func (l Labels) Value(v float64) (float32, error) {
	switch {
	case l.Names != nil:
		class, err := l.Names.Number(v)
		if err != nil {
			err = badLabel("label %w", err)
		}
		return class, err
	case l.Classes > 0:
		if v >= 0 && v < float64(l.Classes) && v == math.Trunc(v) {
			return float32(v), nil
		}
		return 0, badLabel("label is %g, want a class in [0, %d)%s", v, l.Classes, l.Why)
	case l.Binary:
		switch v {
		case 0, 1:
			return float32(v), nil
		case -1:
			return 0, nil
		}
		return 0, badLabel("label is %g, want 0 or 1 (or -1 for 0)", v)
	}
	if y := float32(v); Finite(y) {
		return y, nil
	}
	return 0, badLabel("label is %g, want a finite float32", v)
}

func badLabel(format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf(format, args...))
}

// Check returns an error if y is not what Value returns for some label.
func (l Labels) Check(y float64) error {
	if l.Names != nil {
		l = Labels{Classes: len(l.Names.Names())}
	}
	_, err := l.Value(y)
	return err
}

// Finite reports whether x is neither infinite nor NaN.
func Finite(x float32) bool { return x-x == 0 }

// Normal returns x, or 0 if x is denormal: TensorFlow computes with 0 then, too.
func Normal(x float32) float32 {
	if -0x1p-126 < x && x < 0x1p-126 {
		return 0
	}
	return x
}
