package job

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int

// maxSize is one TiB.
const maxSize = 1 << 40

// UnmarshalText reads "4194304", "4MiB", "512KiB", and "4M" as nccl-tests does, which is 4MiB.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := string(text), 1
	for i, suffix := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(digits, "iB"), suffix); ok {
			digits, unit = rest, 1<<(10*(i+1))
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > maxSize/unit {
		return fmt.Errorf("is %s, want a number of bytes such as 4MiB", abbreviated(string(text)))
	}
	*s = Size(n * unit)
	return nil
}

// short returns the size in the largest unit that leaves no fraction, as in "4MiB".
func (s Size) short() string {
	for i, suffix := range []string{"GiB", "MiB", "KiB"} {
		if unit := Size(1) << (10 * (3 - i)); s > 0 && s%unit == 0 {
			return strconv.Itoa(int(s/unit)) + suffix
		}
	}
	return strconv.Itoa(int(s))
}
