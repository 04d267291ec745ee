package graph

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Layouts of dates that are no pattern of fields.
const (
	AutoLayout = "auto" // ISO 8601
	Unix       = "unix" // seconds since 1970
	UnixMilli  = "unix_ms"
)

// Moments of a calendar, in seconds from 1970: the first one of year 1 and the last one of year 9999.
const (
	LeastSecond = -62135596800
	MostSecond  = 253402300799
)

// A DateToken is a part of a layout of dates: a field, a character, or tokens that may be left out.
type DateToken struct {
	Field    byte   // as after % of strptime: Y m d H M S f z; 0 of others
	Literal  string // the character, or several of which one stands there
	Optional []DateToken
	Digits   int // of Field: exactly so many; 0: one or two, of f one or more
}

// dateFields are the fields of layouts.
const dateFields = "YymdHMSfz"

// DateTokens returns the tokens of a layout, none of [Unix] and [UnixMilli].
func DateTokens(layout string) ([]DateToken, error) {
	field := func(c byte, digits int) DateToken { return DateToken{Field: c, Digits: digits} }
	literal := func(s string) DateToken { return DateToken{Literal: s} }
	switch layout {
	case Unix, UnixMilli:
		return nil, nil
	case AutoLayout:
		fraction := DateToken{Optional: []DateToken{literal(".,"), field('f', 0)}}
		seconds := DateToken{Optional: []DateToken{literal(":"), field('S', 2), fraction}}
		clock := []DateToken{literal("T "), field('H', 2), literal(":"), field('M', 2), seconds, {Optional: []DateToken{field('z', 0)}}}
		return []DateToken{field('Y', 4), literal("-"), field('m', 2), literal("-"), field('d', 2), {Optional: clock}}, nil
	}
	var all []DateToken
	seen := ""
	for rest := layout; rest != ""; {
		c, size := utf8.DecodeRuneInString(rest)
		switch {
		case c == utf8.RuneError || c >= '0' && c <= '9':
			return nil, fmt.Errorf("has the character %q, want none", rest[:size])
		case c != '%':
			all = append(all, literal(rest[:size]))
		case len(rest) < 2 || !strings.Contains(dateFields, rest[1:2]):
			return nil, fmt.Errorf("has %q, want of strptime's fields %s", rest[:min(2, len(rest))], "%Y %y %m %d %H %M %S %f %z")
		case strings.Contains(seen, rest[1:2]):
			return nil, fmt.Errorf("has %q twice", rest[:2])
		default:
			if n := len(all); n > 0 && all[n-1].Field != 0 && rest[1] != 'z' {
				if strings.IndexByte("fz", all[n-1].Field) >= 0 {
					return nil, fmt.Errorf("has %q behind %%%c, want a character between", rest[:2], all[n-1].Field)
				}
				all[n-1].Digits = max(2, all[n-1].Digits) // without a character between
			}
			token := field(rest[1], 0)
			switch rest[1] {
			case 'Y':
				token.Digits = 4
			case 'y':
				token.Digits = 2
			}
			all, seen, size = append(all, token), seen+rest[1:2], 2
		}
		rest = rest[size:]
	}
	has := func(c string) bool { return strings.Contains(seen, c) }
	switch {
	case has("Y") == has("y"):
		return nil, errors.New("has no year or two, want %Y or %y")
	case has("d") && !has("m"), has("M") && !has("H"), has("S") && !has("M"), has("f") && !has("S"):
		return nil, errors.New("lacks a field: want %m with %d, %H with %M, %M with %S, %S with %f")
	}
	return all, nil
}
