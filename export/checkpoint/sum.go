package checkpoint

import (
	"encoding/json"
	"math"
	"strconv"
)

// Sum is a float64 that keeps its bits in JSON. Infinities and NaN, which JSON cannot
// express, are the strings "+Inf", "-Inf" and "NaN".
type Sum float64

// MarshalJSON writes the shortest number that parses to s.
func (s Sum) MarshalJSON() ([]byte, error) {
	f := float64(s)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(f)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (s *Sum) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		return json.Unmarshal(text, (*float64)(s))
	}
	f, err := strconv.ParseFloat(word, 64)
	*s = Sum(f)
	return err
}
