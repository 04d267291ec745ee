package look

import "math"

// sums are power sums of numbers around the first one of a part.
type sums struct{ n, shift, s1, s2, s3 float64 }

func (s *sums) add(x float64) {
	if s.n == 0 {
		s.shift = x
	}
	d := x - s.shift
	s.n++
	s.s1 += d
	s.s2 += d * d
	s.s3 += d * d * d
}

// moments are count and mean of numbers, and the sums of the squares and the cubes of their differences
// from the mean.
type moments struct{ n, mean, m2, m3 float64 }

// moments returns what the sums say.
func (s *sums) moments() moments {
	if s.n == 0 {
		return moments{}
	}
	d := s.s1 / s.n
	return moments{s.n, s.shift + d, max(0, s.s2-d*s.s1), s.s3 - 3*d*s.s2 + 2*d*d*s.s1}
}

// merge adds numbers behind those of m: Pébay, "Formulas for robust, one-pass parallel computation of
// covariances and arbitrary-order statistical moments", 2008.
func (m *moments) merge(o moments) {
	if m.n == 0 || o.n == 0 {
		if o.n > 0 {
			*m = o
		}
		return
	}
	n, d := m.n+o.n, o.mean-m.mean
	m.m3 += o.m3 + d*d*d*m.n*o.n*(m.n-o.n)/(n*n) + 3*d*(m.n*o.m2-o.n*m.m2)/n
	m.m2 += o.m2 + d*d*m.n*o.n/n
	m.mean += d * o.n / n
	m.n = n
}

func (m moments) deviation() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / m.n)
}

// skewness is 0 of a symmetric distribution, and 2 of an exponential one.
func (m moments) skewness() float64 {
	s := m.deviation()
	if s == 0 || math.IsInf(s, 0) {
		return 0
	}
	return m.m3 / m.n / (s * s * s)
}

// A spread is where numbers lie: those of a part, and, after end, what merge has put together.
type spread struct {
	sums, logs sums
	all, log   moments
	min, max   float64
}

// add takes a number, and its logarithm if log says so.
func (s *spread) add(v float64, log bool) {
	if s.sums.n == 0 {
		s.min, s.max = v, v
	} else if v < s.min {
		s.min = v
	} else if v > s.max {
		s.max = v
	}
	s.sums.add(v)
	if log {
		s.logs.add(math.Copysign(math.Log1p(math.Abs(v)), v))
	}
}

// end makes moments of the sums of a part.
func (s *spread) end() { s.all, s.log = s.sums.moments(), s.logs.moments() }

// merge adds the numbers of o, which come behind those of s.
func (s *spread) merge(o *spread) {
	switch {
	case o.all.n == 0:
		return
	case s.all.n == 0:
		s.min, s.max = o.min, o.max
	default:
		s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	}
	s.all.merge(o.all)
	s.log.merge(o.log)
}
