package environ

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringtrain/ring/phrase"
)

// Limits of a list of hosts. Those of Slurm itself are of this size.
const (
	maxNodeListBytes = 1 << 20
	maxNodes         = 1 << 16
	maxNodeDigits    = 18
)

var (
	errNodeList     = errors.New("want host names between commas, with ranges in brackets, such as node[1-2,07],m5")
	errTooManyNodes = errors.New("more hosts than asked for")
)

// FirstNode returns the first host of a list.
func FirstNode(list string) (string, error) {
	all, err := ExpandNodes(list, maxNodes)
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// ExpandNodes returns the hosts of a list in the form of Slurm, in the order of the list: names
// between commas, with ranges of numbers in brackets. Leading zeros are kept:
//
//	node[1-2,7],m5       node1 node2 node7 m5
//	gpu-a[08-10]         gpu-a08 gpu-a09 gpu-a10
//	r[1-2]n[1-2]         r1n1 r1n2 r2n1 r2n2
//
// Text after the last bracket of a name is an error, as in Slurm. So are more than most hosts.
func ExpandNodes(list string, most int) ([]string, error) {
	if len(list) > maxNodeListBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", phrase.Quote(list), maxNodeListBytes)
	}
	var all []string
	for rest, more := list, true; more; {
		var term string
		term, rest, more = cutNodes(rest)
		names, err := expandTerm(term, most-len(all))
		switch {
		case err == errTooManyNodes:
			return nil, fmt.Errorf("%s has more than %d hosts", phrase.Quote(list), most)
		case err != nil:
			return nil, fmt.Errorf("%s is no list of hosts at %s: %w", phrase.Quote(list), phrase.Quote(term), err)
		}
		all = append(all, names...)
	}
	return all, nil
}

// expandTerm returns the hosts of a term without commas outside brackets.
func expandTerm(term string, most int) ([]string, error) {
	text, rest, bracket := strings.Cut(term, "[")
	if text == "" || !isNodeText(text) {
		return nil, errNodeList
	}
	names := []string{text}
	for bracket {
		inside, behind, closed := strings.Cut(rest, "]")
		text, rest, bracket = strings.Cut(behind, "[")
		if !closed || !isNodeText(text) || text != "" && !bracket {
			return nil, errNodeList
		}
		numbers, err := expandRanges(inside, most/len(names))
		if err != nil {
			return nil, err
		}
		longer := make([]string, 0, len(names)*len(numbers))
		for _, name := range names {
			for _, number := range numbers {
				longer = append(longer, name+number+text)
			}
		}
		names = longer
	}
	if len(names) > most {
		return nil, errTooManyNodes
	}
	return names, nil
}

// expandRanges returns the numbers of a bracket. The numbers of a range have the leading zeros of
// its first number.
func expandRanges(s string, most int) ([]string, error) {
	var numbers []string
	for one := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(one, "-")
		if !isRange {
			last = first
		}
		a, err1 := nodeNumber(first)
		b, err2 := nodeNumber(last)
		if err1 != nil || err2 != nil || a > b {
			return nil, errNodeList
		}
		if b-a >= uint64(max(most-len(numbers), 0)) {
			return nil, errTooManyNodes
		}
		for n := a; n <= b; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(first), n))
		}
	}
	return numbers, nil
}

// cutNodes cuts s at its first comma outside brackets.
func cutNodes(s string) (term, rest string, more bool) {
	inside := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ',':
			if !inside {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// isNodeText reports whether s can be a part of a host name.
func isNodeText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("-_.", r)
	})
}

// nodeNumber parses one number of a range.
func nodeNumber(digits string) (uint64, error) {
	if len(digits) > maxNodeDigits {
		return 0, errNodeList
	}
	return strconv.ParseUint(digits, 10, 64)
}
