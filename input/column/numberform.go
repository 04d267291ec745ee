package column

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input/text"
	"ringtrain/model/graph"
)

// formOf checks how the numbers of an item are written, and returns it: nil for plain numbers.
func formOf(decimal, strip string) (*graph.NumberForm, error) {
	if c, size := utf8.DecodeRuneInString(decimal); decimal != "" && (size < len(decimal) || c == utf8.RuneError || strings.ContainsRune("0123456789+-eE"+blanks, c)) {
		return nil, fmt.Errorf("has decimal %q, want one character that is no digit, sign, e or blank", decimal)
	}
	if decimal == "" {
		decimal = "."
	}
	if strings.ContainsAny(strip, "0123456789-"+decimal) || !utf8.ValidString(strip) {
		return nil, fmt.Errorf("has strip %q, want characters but digits, - and the decimal %s", strip, decimal)
	}
	if decimal == "." && strip == "" {
		return nil, nil
	}
	return &graph.NumberForm{Decimal: decimal, Strip: strip}, nil
}

// reads notes in which form the numbers of a column are written: one form in all items that read it as a number.
func (p *Plan) reads(name string, form *graph.NumberForm) (input int, err error) {
	input = p.input(name)
	number := form
	if number == nil {
		number = &graph.NumberForm{Decimal: "."}
	}
	switch was := p.forms[input]; {
	case was == nil:
		made := *number
		made.Name = name
		p.forms[input] = &made
	case was.Decimal != number.Decimal || was.Strip != number.Strip:
		err = fmt.Errorf("reads %s with decimal %q and strip %q, but another item with %q and %q, want one form of its numbers", name, number.Decimal, number.Strip, was.Decimal, was.Strip)
	}
	return input, err
}

// isPlain reports whether numbers are written as others are.
func isPlain(form *graph.NumberForm) bool {
	return form == nil || form.Decimal == "." && form.Strip == ""
}

// plain returns a number as it would be written without a form of its own, in r.digits. ok is false if it has the
// decimal of other numbers.
func (r *Runner) plain(number []byte, form *graph.NumberForm) (plain []byte, ok bool) {
	dst := slices.Grow(r.digits[:0], len(number)+text.Pad)
	for len(number) > 0 {
		_, size := utf8.DecodeRune(number)
		c := number[:size]
		switch {
		case string(c) == form.Decimal:
			dst = append(dst, '.')
		case c[0] == '.' && strings.IndexByte(form.Strip, '.') < 0:
			return nil, false
		case strings.Contains(form.Strip, view(c)):
		default:
			dst = append(dst, c...)
		}
		number = number[size:]
	}
	r.digits = dst
	return Trimmed(dst), true
}
