package evaluate

import "ringtrain/model/train/traintest"

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
