package doctor

import "fmt"

// A unit is a unit of a measure, from the largest to the smallest.
type unit struct {
	name string
	size float64
}

var (
	rateUnits = []unit{{"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}}
	timeUnits = []unit{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}
	byteUnits = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}}
)

// inUnits returns a value in the largest unit in which it is 1 or more.
func inUnits(value float64, units []unit) string {
	u := units[0]
	for _, u = range units {
		if value >= 0.9995*u.size {
			break
		}
	}
	if value >= 9.95*u.size {
		return fmt.Sprintf("%.0f %s", value/u.size, u.name)
	}
	return fmt.Sprintf("%.1f %s", value/u.size, u.name)
}

func rateText(bytesPerS float64) string { return inUnits(bytesPerS, rateUnits) }
func secondsText(s float64) string      { return inUnits(s, timeUnits) }
func bytesText(n int64) string          { return inUnits(float64(n), byteUnits) }
