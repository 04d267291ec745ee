package evaluate

import (
	"encoding/json"
	"math"
	"testing"

	"ringtrain/model/train/traintest"
)

// The jobs of most tests, and their records.
const (
	linearText = traintest.Linear
	digitsText = traintest.Digits
	clicksText = traintest.Clicks
)

var (
	linearData = traintest.LinearData
	digitsData = traintest.DigitsData
	clicksData = traintest.ClicksData
	loadText   = traintest.Load
)

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// far reports whether a and b differ by more than the relative bound.
func far(a, b, bound float64) bool {
	return !(math.Abs(a-b) <= bound*max(math.Abs(a), math.Abs(b)))
}
