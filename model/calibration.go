package model

// Calibration compares the probabilities that a binary model says with what came true, by
// buckets of the probability: bucket k holds the scores in [k/10, (k+1)/10), the last also 1.
// The zero value has no examples.
type Calibration [10]CalibrationBucket

// CalibrationBucket is what the examples of a bucket come to.
type CalibrationBucket struct {
	Scores    float64 // sum, in the order in which they were added
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

// Merge adds the examples of another Calibration behind those of c.
func (c *Calibration) Merge(other *Calibration) {
	for k := range c {
		c[k].Scores += other[k].Scores
		c[k].Examples += other[k].Examples
		c[k].Positives += other[k].Positives
	}
}

// Ratio returns the sum of the scores over the number of positives: 1 is right, above 1
// promises too much. Without positives it is +Inf, or NaN.
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
