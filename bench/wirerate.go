package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// A Wire is a host's link to the others, each way.
type Wire struct {
	Name string  // of its rate, as tc takes it, such as 1gbit
	Rate float64 // bytes/s that a stream gets of it
}

// framed is the share of an Ethernet wire that is TCP's payload: 1448 bytes of
// the 1538 that a full packet takes with headers, preamble and gap.
const framed = 1448.0 / 1538

var errWire = errors.New("want a rate such as 100mbit or 25gbit")

// ParseWire reads a rate such as 100mbit, 2.5gbit or 800kbit, of bits on an
// Ethernet wire. An error is exitcode.Usage.
func ParseWire(text string) (Wire, error) {
	for _, u := range []struct {
		suffix string
		bits   float64
	}{{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}} {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseFloat(digits, 64)
			if err == nil && n >= 0.001 && n <= 1e6 {
				return Wire{text, n * u.bits / 8 * framed}, nil
			}
		}
	}
	return Wire{}, exitcode.With(exitcode.Usage, fmt.Errorf("bandwidth is %q, %w", text, errWire))
}
