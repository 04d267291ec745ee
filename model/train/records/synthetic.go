package records

import (
	"fmt"

	"ringtrain/input/synth"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// digitClasses is the number of classes of the synthetic digits.
const digitClasses = 10

// drawSet draws synthetic records that suit the model of a job.
func drawSet(cfg *job.Config) (Set, error) {
	seed, head := cfg.Train.Seed, cfg.Model.Head(cfg.Loss)
	bad := func(format string, args ...any) (Set, error) {
		return Set{}, exitcode.With(exitcode.Usage, fmt.Errorf(format, args...))
	}
	switch {
	case cfg.ReadsIDs():
		if f := cfg.Model.Features; f != 0 && f < synth.ClicksFeatures {
			return bad("model.features is %d, want at least %d: input.synthetic draws ids below that", f, synth.ClicksFeatures)
		}
		return Set{
			Train: synth.Clicks(seed, synth.ClicksTrain, synth.Train), Eval: synth.Clicks(seed, synth.ClicksEval, synth.Eval), Split: "eval",
		}, nil
	case head.Kind == graph.HeadRegression:
		points := synth.Linear(seed)
		s := Set{Train: points}
		s.evaluateTraining(cfg)
		return s, nil
	case head.Kind == graph.HeadBinary:
		return bad("loss.kind is sigmoid, want softmax or squared: input.synthetic draws digits, or points of a line")
	case head.Classes != digitClasses && len(cfg.Model.Layers) > 0:
		return bad("the last layer has %d outputs, want %d: input.synthetic draws the ten digits", head.Classes, digitClasses)
	case head.Classes != digitClasses:
		return bad("model.classes is %d, want %d: input.synthetic draws the ten digits", head.Classes, digitClasses)
	}
	return Set{
		Train: synth.Digits(seed, synth.DigitsTrain, synth.Train), Eval: synth.Digits(seed, synth.DigitsEval, synth.Eval), Split: "eval",
	}, nil
}
