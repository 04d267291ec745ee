package model

// Calibration compares the predicted probabilities of a binary model with the labels, by
// buckets of the probability. Bucket k holds the scores in [k/10, (k+1)/10), the last
// bucket also 1. The zero value has no examples.
type Calibration [10]CalibrationBucket

// CalibrationBucket has the sums of a bucket.
type CalibrationBucket struct {
	Scores    float64 // sum in the order of Add
	Examples  int64
	Positives int64
}

// Add adds examples; labels above 0 are positive. A score that is NaN goes to the first
// bucket and makes its sum NaN.
func (c *Calibration) Add(scores, labels []float32) {
	for i, s := range scores {
		b := &c[0]
		if s > 0 {
			b = &c[min(int(s*float32(len(c))), len(c)-1)]
		}
		b.Scores += float64(s)
		b.Examples++
		if labels[i] > 0 {
			b.Positives++
		}
	}
}

// Merge adds the examples of another Calibration after those of c.
func (c *Calibration) Merge(other *Calibration) {
	for k := range c {
		c[k].Scores += other[k].Scores
		c[k].Examples += other[k].Examples
		c[k].Positives += other[k].Positives
	}
}

// Ratio returns the sum of the scores divided by the number of positives: 1 is
// calibrated, above 1 overestimates. Without positives it is +Inf or NaN.
func (c *Calibration) Ratio() float64 {
	sum := 0.0
	for _, b := range c {
		sum += b.Scores
	}
	return sum / float64(c.Positives())
}

// Positives returns the number of positive examples.
func (c *Calibration) Positives() (n int64) {
	for _, b := range c {
		n += b.Positives
	}
	return n
}
