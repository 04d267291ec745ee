package csvfile

import (
	"bytes"
	"errors"
	"fmt"
)

// quote encloses fields that hold separators, line ends or quotes; a quote within is doubled.
const quote = '"'

// splitter cuts lines into fields. One goroutine at a time may use it.
type splitter struct {
	separator byte
	quoted    bool     // fields may be enclosed in quotes
	fields    [][]byte // of the line
	plain     []byte   // fields whose doubled quotes were made single
}

// split returns the fields of a line without its end. They are views into line and s until the
// next call.
func (s *splitter) split(line []byte) ([][]byte, error) {
	s.fields, s.plain = s.fields[:0], s.plain[:0]
	for {
		if s.quoted && len(line) > 0 && line[0] == quote {
			field, rest, err := s.enclosed(line)
			if err != nil {
				return nil, fmt.Errorf("field %d: %w", len(s.fields)+1, err)
			}
			s.fields = append(s.fields, field)
			if len(rest) == 0 {
				return s.fields, nil
			}
			line = rest[1:]
			continue
		}
		end := bytes.IndexByte(line, s.separator)
		field := line
		if end >= 0 {
			field = line[:end]
		}
		if s.quoted && bytes.IndexByte(field, quote) >= 0 {
			return nil, fmt.Errorf("field %d: a quote inside, want the field in quotes and each quote in it doubled", len(s.fields)+1)
		}
		s.fields = append(s.fields, field)
		if end < 0 {
			return s.fields, nil
		}
		line = line[end+1:]
	}
}

// enclosed takes a field in quotes off the front of line. rest begins with the separator, or is
// empty.
func (s *splitter) enclosed(line []byte) (field, rest []byte, err error) {
	begin, rest := len(s.plain), line[1:]
	doubled := false
	for {
		end := bytes.IndexByte(rest, quote)
		if end < 0 {
			return nil, nil, errors.New("no quote at its end")
		}
		if end+1 == len(rest) || rest[end+1] != quote {
			field, rest = rest[:end], rest[end+1:]
			break
		}
		doubled = true
		s.plain = append(s.plain, rest[:end+1]...)
		rest = rest[end+2:]
	}
	if len(rest) > 0 && rest[0] != s.separator {
		return nil, nil, fmt.Errorf("%q behind the quote at its end, want the separator %q: a quote may not be closed", rest[0], s.separator)
	}
	if doubled {
		s.plain = append(s.plain, field...)
		field = s.plain[begin:]
	}
	return field, rest, nil
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
