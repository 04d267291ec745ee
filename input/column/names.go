package column

import (
	"fmt"
	"strconv"
	"strings"
)

// maxRange bounds the columns of one range.
const maxRange = 100_000

// Expand returns the names of a list, in which FIRST..LAST is a range: two names of equal text
// and ascending numbers behind it, as in C1..C26. Numbers of one width are filled with zeros.
func Expand(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		from, to, isRange := strings.Cut(name, "..")
		if !isRange {
			if name == "" {
				return nil, fmt.Errorf("has an empty name")
			}
			all = append(all, name)
			continue
		}
		text, first, width := numbered(from)
		last, n, _ := numbered(to)
		if text != last || first < 0 || n < first || n-first >= maxRange {
			return nil, fmt.Errorf("has the range %s, want one like C1..C26, of at most %d columns", name, maxRange)
		}
		for ; first <= n; first++ {
			all = append(all, fmt.Sprintf("%s%0*d", text, width, first))
		}
	}
	return all, nil
}

// numbered cuts a name before the number at its end, −1 if there is none. width is that of a
// number that begins with 0, else 0.
func numbered(name string) (text string, number, width int) {
	text = strings.TrimRight(name, "0123456789")
	digits := name[len(text):]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return name, -1, 0
	}
	if digits[0] == '0' {
		width = len(digits)
	}
	return text, n, width
}

// Ranges returns names in the form of an item's list: three names or more that make a range are one.
func Ranges(names []string) []string {
	var all []string
	for i := 0; i < len(names); {
		text, first, width := numbered(names[i])
		n := 1
		for first >= 0 && i+n < len(names) && n < maxRange && names[i+n] == fmt.Sprintf("%s%0*d", text, width, first+n) {
			n++
		}
		if n < 3 {
			n = 1
			all = append(all, names[i])
		} else {
			all = append(all, names[i]+".."+names[i+n-1])
		}
		i += n
	}
	return all
}
