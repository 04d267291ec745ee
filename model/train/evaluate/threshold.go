package evaluate

import "ringtrain/model/train/report"

// fixedThresholds is the number of the thresholds 0.05, 0.10 … 0.95.
const fixedThresholds = 19

// An outcome is what a threshold makes of the examples of two classes: those whose scores are above it are
// predicted as positive. Sums are of weights.
type outcome struct {
	hits, alarms         float64 // positive and negative examples that are predicted as positive
	positives, negatives float64 // all examples
	hitRecords           int64   // number of the hits, whatever their weights
	alarmRecords         int64
}

// at returns the metrics of the outcome of a threshold. A share with divisor 0 is 0, as in model.Confusion.
func (o outcome) at(threshold float64) report.Threshold {
	share := func(part, all float64) report.Number {
		if all == 0 {
			return 0
		}
		return report.Number(part / all)
	}
	said := o.hits + o.alarms
	return report.Threshold{
		Threshold: report.Number(threshold), Precision: share(o.hits, said), Recall: share(o.hits, o.positives),
		F1: share(2*o.hits, said+o.positives), Predicted: share(said, o.positives+o.negatives),
	}
}

// accuracy is the share of the examples whose prediction is right.
func (o outcome) accuracy() float64 {
	return (o.hits + (o.negatives - o.alarms)) / (o.positives + o.negatives)
}

// thresholds finds, while scores are counted in ascending order, the outcomes of the fixed thresholds and the
// threshold of the best F1. It is the middle between two scores, of several the lowest.
type thresholds struct {
	fixed []report.Threshold
	best  *report.Threshold // nil: no positive example has a score above 0
	made  outcome           // of best
	last  float64           // score that was counted last, 0 at first
}

// below takes the thresholds from the last score up to a next one. a has counted the scores up to the last.
func (t *thresholds) below(score float64, a area) {
	t.upTo(score, a)
	if score <= 0 {
		return
	}
	if a.improve() {
		t.made = a.outcome()
		best := t.made.at(t.last + (score-t.last)/2)
		t.best = &best
	}
	t.last = score
}

// upTo takes the fixed thresholds below score.
func (t *thresholds) upTo(score float64, a area) {
	for len(t.fixed) < fixedThresholds {
		threshold := float64(len(t.fixed)+1) / (fixedThresholds + 1)
		if threshold >= score {
			return
		}
		t.fixed = append(t.fixed, a.outcome().at(threshold))
	}
}
