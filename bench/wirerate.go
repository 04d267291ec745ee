package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// A Wire is the link of a host to the other hosts, per direction.
type Wire struct {
	Name string  // its rate in the syntax of tc, such as 1gbit
	Rate float64 // payload of a stream in bytes/s
}

// framed is the share of TCP payload on an Ethernet wire: 1448 of the 1538 bytes of a
// full packet with headers, preamble and gap.
const framed = 1448.0 / 1538

var errWire = errors.New("want a rate such as 100mbit or 25gbit")

// ParseWire parses a rate in bits on an Ethernet wire, such as 100mbit, 2.5gbit or
// 800kbit. An error is exitcode.Usage.
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
	return Wire{}, exitcode.With(exitcode.Usage, fmt.Errorf("rate is %q, %w", text, errWire))
}
