package model

// Calibration compares the predicted probabilities of a binary model with the labels, by
// buckets of the probability. Bucket k holds the scores in [k/10, (k+1)/10), the last
// bucket also 1. The zero value has no examples.
type Calibration [10]CalibrationBucket

// CalibrationBucket has the sums of a bucket, each example times its weight, in the order
// of Add.
type CalibrationBucket struct {
	Scores, Weight, Positives float64
	Examples                  int64
}

// Add adds examples; labels above 0 are positive. weights are those of the first examples;
// the others have weight 1. A score that is NaN goes to the first bucket and makes its sum
// NaN.
func (c *Calibration) Add(scores, labels, weights []float32) {
	for i, s := range scores {
		w := 1.0
		if i < len(weights) {
			w = float64(weights[i])
		}
		if w == 0 {
			continue
		}
		b := &c[0]
		if s > 0 {
			b = &c[min(int(s*float32(len(c))), len(c)-1)]
		}
		b.Scores += float64(w * float64(s)) // rounded, on every architecture alike
		b.Weight += w
		b.Examples++
		if labels[i] > 0 {
			b.Positives += w
		}
	}
}

// Merge adds the examples of another Calibration after those of c.
func (c *Calibration) Merge(other *Calibration) {
	for k := range c {
		c[k].Scores += other[k].Scores
		c[k].Weight += other[k].Weight
		c[k].Examples += other[k].Examples
		c[k].Positives += other[k].Positives
	}
}

// Ratio returns the sum of the scores divided by the sum of the positives: 1 is
// calibrated, above 1 overestimates. Without positives it is +Inf or NaN.
func (c *Calibration) Ratio() float64 {
	sum := 0.0
	for _, b := range c {
		sum += b.Scores
	}
	return sum / c.Positives()
}

// Weight returns the sum of the weights of the examples, in the order of Positives: the two are equal if
// all examples are positive.
func (c *Calibration) Weight() (sum float64) {
	for _, b := range c {
		sum += b.Weight
	}
	return sum
}

// Positives returns the sum of the weights of the positive examples.
func (c *Calibration) Positives() (sum float64) {
	for _, b := range c {
		sum += b.Positives
	}
	return sum
}
