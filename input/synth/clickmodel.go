package synth

import "math"

// Random streams of a click log, besides those of its splits.
const (
	streamWeights = iota + 16
	streamFactors
	streamMeans
)

// Shape of the hidden model of a click log.
const (
	logitMean      = -1.4
	linearVariance = 0.8
	pairsVariance  = 1.2
	factorFields   = 12
	factorLength   = 4
	meansRecords   = 4096 // records for means and variances
)

// factors are the hidden factors of an id.
type factors [factorLength]float64

// A clickModel is the hidden model of a click log. It computes weights and factors of an
// id on demand, so 50 million ids need no memory.
type clickModel struct {
	weights, factors uint64 // keys
	bias             float64
	linearScale      float64
	pairsScale       float64 // 0 without interactions
	means            [factorFields]factors
}

// hiddenModel draws the model and scales it to the specified means and variances.
func (d *Drawn) hiddenModel() clickModel {
	m := clickModel{weights: keyOf(d.Seed, streamWeights), factors: keyOf(d.Seed, streamFactors)}
	m.setMeans(d)
	linear, pairs := d.moments(&m)
	m.linearScale = scaleTo(linearVariance, linear)
	m.bias = logitMean - float64(m.linearScale*linear.mean())
	if d.Interactions {
		m.pairsScale = scaleTo(pairsVariance, pairs)
		m.bias -= float64(m.pairsScale * pairs.mean())
	}
	return m
}

// setMeans sets the mean of the factors of each field.
func (m *clickModel) setMeans(d *Drawn) {
	d.eachMeansRecord(func(ids []uint32) {
		for f, id := range ids[:min(factorFields, len(ids))] {
			for k, v := range m.drawnFactors(id) {
				m.means[f][k] += v / meansRecords
			}
		}
	})
}

// moments returns the moments of the two sums of z before scaling.
func (d *Drawn) moments(m *clickModel) (linear, pairs moments) {
	d.eachMeansRecord(func(ids []uint32) {
		linear.add(m.linear(ids))
		pairs.add(m.pairs(ids))
	})
	return linear, pairs
}

// eachMeansRecord calls do with the ids of the records for means and variances.
func (d *Drawn) eachMeansRecord(do func(ids []uint32)) {
	key := keyOf(d.Seed, streamMeans)
	var ids []uint32
	for i := range meansRecords {
		ids = d.appendIDs(ids[:0], key, i)
		do(ids)
	}
}

// logit returns z for a record's ids before Spread.
func (m *clickModel) logit(ids []uint32) float64 {
	z := m.bias + float64(m.linearScale*m.linear(ids))
	if m.pairsScale > 0 {
		z += float64(m.pairsScale * m.pairs(ids))
	}
	return z
}

// linear returns the unscaled sum of the weights.
func (m *clickModel) linear(ids []uint32) float64 {
	sum := 0.0
	for _, id := range ids {
		sum += normalOf(mix(m.weights + uint64(id)))
	}
	return sum
}

// pairs returns the unscaled sum of the products of factors.
func (m *clickModel) pairs(ids []uint32) float64 {
	var total factors
	squares := 0.0
	for f, id := range ids[:min(factorFields, len(ids))] {
		for k, v := range m.drawnFactors(id) {
			v -= m.means[f][k]
			total[k] += v
			squares += float64(v * v)
		}
	}
	all := 0.0
	for _, v := range total {
		all += float64(v * v)
	}
	return (all - squares) / 2
}

// drawnFactors returns the factors of an id before the mean of its field is subtracted.
func (m *clickModel) drawnFactors(id uint32) (v factors) {
	bits := mix(m.factors + uint64(id))
	for k := range v {
		v[k] = evenOf(uint16(bits >> (16 * k)))
	}
	return v
}

// moments has count, sum and sum of squares of numbers.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += float64(x * x)
}

func (m *moments) mean() float64 { return m.sum / m.n }

// scaleTo returns the factor that gives numbers a variance, 0 if all numbers are equal.
func scaleTo(variance float64, m moments) float64 {
	mean := m.mean()
	now := m.squares/m.n - float64(mean*mean)
	if now < 1e-9 {
		return 0
	}
	return math.Sqrt(variance / now)
}
