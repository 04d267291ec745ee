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
	maxNodeDigits    = 18
)

var errNodeList = errors.New("want host names between commas, with ranges in brackets, such as node[1-2,07],m5")

// FirstNode returns the first host of a list in the form of Slurm: names between commas,
// with ranges of numbers in brackets. Leading zeros are kept:
//
//	node[1-2,7],m5       node1
//	gpu-a[08-10]         gpu-a08
//	r[1-2]n[1-2]         r1n1
//
// FirstNode checks the whole list. Text after the last bracket of a name is an error, as in
// Slurm.
func FirstNode(list string) (string, error) {
	if len(list) > maxNodeListBytes {
		return "", fmt.Errorf("%s is longer than %d bytes", phrase.Quote(list), maxNodeListBytes)
	}
	first := ""
	for rest, more := list, true; more; {
		var term string
		term, rest, more = cutNodes(rest)
		name, ok := firstOfNodes(term)
		if !ok {
			return "", fmt.Errorf("%s is no list of hosts at %s: %w", phrase.Quote(list), phrase.Quote(term), errNodeList)
		}
		if first == "" {
			first = name
		}
	}
	return first, nil
}

// ExpandNodes returns all hosts of a list that FirstNode reads, in the order of the list.
// More than most hosts are an error.
func ExpandNodes(list string, most int) ([]string, error) {
	if _, err := FirstNode(list); err != nil { // the whole list makes sense
		return nil, err
	}
	var all []string
	for rest, more := list, true; more; {
		var term string
		term, rest, more = cutNodes(rest)
		names := expandTerm(term, most-len(all))
		if names == nil {
			return nil, fmt.Errorf("%s has more than %d hosts", phrase.Quote(list), most)
		}
		all = append(all, names...)
	}
	return all, nil
}

// expandTerm returns the hosts of a valid term, or nil if there are more than most.
func expandTerm(term string, most int) []string {
	names := []string{""}
	for term != "" {
		text, behind, _ := strings.Cut(term, "[")
		inside, rest, _ := strings.Cut(behind, "]")
		numbers := []string{""}
		if inside != "" {
			numbers = expandRanges(inside, most)
		}
		if len(numbers) == 0 || len(names)*len(numbers) > most {
			return nil
		}
		longer := make([]string, 0, len(names)*len(numbers))
		for _, name := range names {
			for _, number := range numbers {
				longer = append(longer, name+text+number)
			}
		}
		names, term = longer, rest
	}
	return names
}

// expandRanges returns the numbers of a bracket, or nil if there are more than most. The
// numbers of a range have the leading zeros of its first number.
func expandRanges(s string, most int) []string {
	var numbers []string
	for one := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(one, "-")
		if !isRange {
			last = first
		}
		a, _ := nodeNumber(first)
		b, _ := nodeNumber(last)
		if b-a >= uint64(max(most-len(numbers), 0)) {
			return nil
		}
		for n := a; n <= b; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(first), n))
		}
	}
	return numbers
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

// firstOfNodes returns the first host of a term without commas outside brackets.
func firstOfNodes(term string) (string, bool) {
	text, rest, bracket := strings.Cut(term, "[")
	if text == "" || !isNodeText(text) {
		return "", false
	}
	name := text
	for bracket {
		inside, behind, closed := strings.Cut(rest, "]")
		number, ok := firstOfRanges(inside)
		if !closed || !ok {
			return "", false
		}
		text, rest, bracket = strings.Cut(behind, "[")
		if !isNodeText(text) || text != "" && !bracket {
			return "", false
		}
		name += number + text
	}
	return name, true
}

// isNodeText reports whether s can be a part of a host name.
func isNodeText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("-_.", r)
	})
}

// firstOfRanges returns the first number of a bracket, with its leading zeros.
func firstOfRanges(s string) (string, bool) {
	for one := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(one, "-")
		if !isRange {
			last = first
		}
		a, err1 := nodeNumber(first)
		b, err2 := nodeNumber(last)
		if err1 != nil || err2 != nil || a > b {
			return "", false
		}
	}
	return s[:strings.IndexAny(s+",", ",-")], true
}

// nodeNumber parses one number of a range.
func nodeNumber(digits string) (uint64, error) {
	if len(digits) > maxNodeDigits {
		return 0, errNodeList
	}
	return strconv.ParseUint(digits, 10, 64)
}
