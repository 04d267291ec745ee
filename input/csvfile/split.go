package csvfile

import (
	"bytes"
	"fmt"
	"math"

	"ringtrain/input/text"
	"ringtrain/ring/phrase"
)

// quote encloses fields that hold separators, line ends or quotes; a quote within is doubled.
const quote = '"'

// splitter cuts lines into fields. One goroutine at a time may use it.
type splitter struct {
	text.Quoting
	fields   [][]byte // of the line
	plain    []byte   // fields whose doubled quotes were made single
	enclosed bool     // a field has quotes
}

// split returns the fields of a line without its end. They are views into line and s until the
// next call.
func (s *splitter) split(line []byte) ([][]byte, error) {
	return s.splitUpTo(line, math.MaxInt)
}

// splitUpTo is split that stops behind so many fields.
func (s *splitter) splitUpTo(line []byte, fields int) ([][]byte, error) {
	s.fields, s.plain, s.enclosed = s.fields[:0], s.plain[:0], false
	for {
		line = s.behindBlanks(line)
		n, doubled, field := 0, false, line
		if len(line) > 0 && line[0] == s.Quote {
			n, doubled = s.Enclosed(line)
		}
		switch {
		case n < 0:
			return nil, fmt.Errorf("field %d: no quote at its end, in %s", len(s.fields)+1, phrase.Count(1+bytes.Count(bytes.TrimRight(line, "\n"), []byte{'\n'}), "line"))
		case n > 0:
			s.enclosed, field = true, line[1:n-1]
			if n += len(line[n:]) - len(s.behindBlanks(line[n:])); n < len(line) && line[n] != s.Separator {
				return nil, fmt.Errorf("field %d: %q behind the quote at its end, want the separator %q: a quote may not be closed", len(s.fields)+1, line[n], s.Separator)
			}
			if doubled {
				field = s.undouble(field)
			}
		default:
			if n = text.Index(line, s.Separator); n >= 0 {
				field = line[:n]
			} else {
				n = len(line)
			}
		}
		s.fields = append(s.fields, field)
		if n == len(line) || len(s.fields) == fields {
			return s.fields, nil
		}
		line = line[n+1:]
	}
}

// leastSwallowed is how many separators in how many lines of a field are no text by chance.
const leastSwallowed = 8

// swallowed returns an error if quotes that are not closed have probably made one record of many: all lines within it
// have as many separators as a record, which has so many fields at most and at least.
func (s *splitter) swallowed(line []byte, most, least int) error {
	if line = trimEnd(line); bytes.IndexByte(line, '\n') < 0 {
		return nil
	}
	lines := bytes.Split(line, []byte{'\n'})
	within := lines[1 : len(lines)-1]
	for _, l := range within {
		if n := 1 + bytes.Count(l, []byte{s.Separator}); n != most && n != least {
			return nil
		}
	}
	if len(within)*(most-1) < leastSwallowed {
		return nil
	}
	return fmt.Errorf("has quotes around %d lines of %d fields each: a quote may not be closed", len(within), most)
}

// behindBlanks returns what is behind the blanks that a line begins with, if blanks are trimmed.
func (s *splitter) behindBlanks(line []byte) []byte {
	for s.Trim && len(line) > 0 && s.Blank(line[0]) {
		line = line[1:]
	}
	return line
}

// undouble makes the doubled quotes of a field single.
func (s *splitter) undouble(field []byte) []byte {
	begin := len(s.plain)
	for {
		end := bytes.IndexByte(field, s.Quote)
		if end < 0 {
			s.plain = append(s.plain, field...)
			return s.plain[begin:]
		}
		s.plain = append(s.plain, field[:end+1]...)
		field = field[end+2:]
	}
}

// trimEnd takes the end of a line off: \n, or \r\n.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// Fields cuts lines into fields without a plan. One goroutine at a time may use it.
type Fields struct {
	splitter
	width int
}

// NewFields returns the Fields of lines with a separator, without quotes if noQuotes is true, and as text.Quoting has
// it if trim is true. A record has so many fields; 0: as many as it has.
func NewFields(separator byte, noQuotes, trim bool, width int) *Fields {
	f := &Fields{splitter{Quoting: text.Quoting{Separator: separator, Trim: trim}}, width}
	if !noQuotes {
		f.Quote = quote
	}
	return f
}

// Split returns the fields of a line, which may have its end. They are views into line and f until the next call.
func (f *Fields) Split(line []byte) ([][]byte, error) {
	fields, err := f.split(trimEnd(line))
	if err == nil && f.enclosed && f.width > 0 {
		err = f.swallowed(line, f.width, f.width)
	}
	return fields, err
}
