package show

import (
	"path"
	"strings"
	"unicode/utf8"
)

const (
	wrapIndent = 2  // columns of a further line of a message, beyond the line's own indent
	minCell    = 24 // columns of a cell that is wrapped below itself
)

// wrapText wraps each line of a text.
func wrapText(text string, columns int) string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, Wrap(line, columns, wrapIndent)...)
	}
	return strings.Join(all, "\n")
}

// Wrap splits a line between words, so that no part is wider than columns. Further parts are indented: below the last
// cell of a row, which two blanks set apart, or by more columns than the line. A word, such as a path, stays whole, however
// wide it is, and so does a command or a quotation. Blanks behind the last word, as of a cell that is empty, take no line.
func Wrap(line string, columns, more int) []string {
	line = strings.TrimRight(line, " ")
	if Width(line) <= columns {
		return []string{line}
	}
	indent := strings.Repeat(" ", hanging(line, columns, more))
	var parts []string
	part := ""
	for line != "" {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		unit := line[:blanks+wholeUnit(line[blanks:])]
		line = line[len(unit):]
		if Width(part)+Width(unit) > columns && Width(part)+blanks > len(indent) && strings.TrimSpace(part) != "" {
			parts, part, unit = append(parts, part), indent, unit[blanks:]
		}
		part += unit
	}
	return append(parts, part)
}

// hanging returns the indent of the further parts of a line.
func hanging(line string, columns, more int) int {
	text := strings.TrimLeft(line, " ")
	if cell := strings.LastIndex(text, "  ") + 2; cell > 1 {
		if at := Width(line) - Width(text[cell:]); at+minCell <= columns {
			return at
		}
	}
	return min(len(line)-len(text)+more, columns/2)
}

// wholeUnit returns the bytes of the beginning of text that stand on one line: a word, a quotation, or a command from
// the word ringtrain to the end of its clause.
func wholeUnit(text string) int {
	word := strings.IndexByte(text+" ", ' ')
	switch first := text[:word]; {
	case path.Base(first) == "ringtrain":
		for end := word; end < len(text); {
			if strings.ContainsRune(",;:.)", rune(text[end-1])) || strings.HasPrefix(text[end:], "  ") {
				return end
			}
			end += 1 + strings.IndexByte(text[end+1:]+" ", ' ')
			word = end
		}
	case strings.ContainsAny(first[:min(len(first), 1)], "\"`'"):
		if end := strings.IndexByte(text[1:], first[0]) + 2; end > word {
			return end + strings.IndexByte(text[end:]+" ", ' ')
		}
	}
	return word
}

// Width returns the columns of a printable text.
func Width(text string) int { return utf8.RuneCountInString(text) }

// Cut returns the beginning of a line that takes at most so many columns.
func Cut(line string, columns int) string {
	runes := []rune(line)
	return string(runes[:min(len(runes), max(columns, 0))])
}
