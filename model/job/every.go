package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Every is an interval: a number of steps or a duration. The zero Every means never.
type Every struct {
	Steps    int64
	Duration time.Duration
}

// UnmarshalText reads a form such as "100" or "60s".
func (e *Every) UnmarshalText(text []byte) error {
	s := string(text)
	if steps, err := strconv.ParseInt(s, 10, 64); err == nil && steps >= 0 {
		*e = Every{Steps: steps}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("is %s, want a number of steps or a duration such as 60s", abbreviated(s))
	}
	*e = Every{Duration: d}
	return nil
}

// String returns the form that UnmarshalText reads.
func (e Every) String() string {
	if e.Duration > 0 {
		return strings.Replace(e.Duration.String(), "m0s", "m", 1)
	}
	return strconv.FormatInt(e.Steps, 10)
}

// MarshalText returns the form that UnmarshalText reads.
func (e Every) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Due reports whether the interval has passed, after a total of steps and the time since the last
// occurrence.
func (e Every) Due(steps int64, since time.Duration) bool {
	return e.Steps > 0 && steps%e.Steps == 0 || e.Duration > 0 && since >= e.Duration
}
