package synth

import "math"

// Streams of a click log's numbers, beside those of its splits.
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
	meansRecords   = 4096 // that means and variances are taken over
)

// factors are the hidden factors of an id.
type factors [factorLength]float64

// A clickModel is the hidden model of a click log. Weights and factors of an id are
// drawn when they are asked for: 50 million ids take no memory.
type clickModel struct {
	weights, factors uint64 // keys
	bias             float64
	linearScale      float64
	pairsScale       float64 // 0: without interactions
	means            [factorFields]factors
}

// hiddenModel draws the model, and brings means and variances to what they should be.
func (l *clickLog) hiddenModel() clickModel {
	m := clickModel{weights: keyOf(l.Seed, streamWeights), factors: keyOf(l.Seed, streamFactors)}
	m.setMeans(l)
	linear, pairs := l.moments(&m)
	m.linearScale = scaleTo(linearVariance, linear)
	m.bias = logitMean - float64(m.linearScale*linear.mean())
	if l.Interactions {
		m.pairsScale = scaleTo(pairsVariance, pairs)
		m.bias -= float64(m.pairsScale * pairs.mean())
	}
	return m
}

// setMeans sets the mean of the factors of each field.
func (m *clickModel) setMeans(l *clickLog) {
	l.eachMeansRecord(func(ids []uint32) {
		for f, id := range ids[:min(factorFields, len(ids))] {
			for k, v := range m.drawnFactors(id) {
				m.means[f][k] += v / meansRecords
			}
		}
	})
}

// moments returns those of the two sums of z, before they are scaled.
func (l *clickLog) moments(m *clickModel) (linear, pairs moments) {
	l.eachMeansRecord(func(ids []uint32) {
		linear.add(m.linear(ids))
		pairs.add(m.pairs(ids))
	})
	return linear, pairs
}

// eachMeansRecord calls do with the ids of the records that means are taken over.
func (l *clickLog) eachMeansRecord(do func(ids []uint32)) {
	key := keyOf(l.Seed, streamMeans)
	var ids []uint32
	for i := range meansRecords {
		ids = l.appendIDs(ids[:0], key, i)
		do(ids)
	}
}

// logit returns z of a record's ids, before these are spread.
func (m *clickModel) logit(ids []uint32) float64 {
	z := m.bias + float64(m.linearScale*m.linear(ids))
	if m.pairsScale > 0 {
		z += float64(m.pairsScale * m.pairs(ids))
	}
	return z
}

// linear returns the sum of the weights, not scaled.
func (m *clickModel) linear(ids []uint32) float64 {
	sum := 0.0
	for _, id := range ids {
		sum += normalOf(mix(m.weights + uint64(id)))
	}
	return sum
}

// pairs returns the sum of the products of the factors, not scaled.
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

// drawnFactors returns the factors of an id before the mean of its field is taken off.
func (m *clickModel) drawnFactors(id uint32) (v factors) {
	bits := mix(m.factors + uint64(id))
	for k := range v {
		v[k] = evenOf(uint16(bits >> (16 * k)))
	}
	return v
}

// moments are count, sum and sum of squares of numbers.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += float64(x * x)
}

func (m *moments) mean() float64 { return m.sum / m.n }

// scaleTo returns what numbers are multiplied by to have a variance; 0 where they are
// all equal.
func scaleTo(variance float64, m moments) float64 {
	mean := m.mean()
	now := m.squares/m.n - float64(mean*mean)
	if now < 1e-9 {
		return 0
	}
	return math.Sqrt(variance / now)
}
