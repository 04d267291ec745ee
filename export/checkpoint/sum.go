package checkpoint

import (
	"encoding/json"
	"math"
	"strconv"
)

// Sum is a float64 that comes back from JSON with the bits that it had. An infinity
// and NaN, which JSON has no numbers for, are the strings "+Inf", "-Inf" and "NaN".
type Sum float64

// MarshalJSON writes the shortest number that is read back as s.
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
