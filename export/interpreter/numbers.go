package interpreter

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// parseFloat reads a number as TensorFlow does: decimal or hexadecimal, where an exponent may be
// missing, or inf, infinity, nan and nan(…) with a sign and in any case.
func parseFloat(s []byte, bits int) (float64, bool) {
	digits := bytes.TrimPrefix(s, []byte("-"))
	if len(digits) == len(s) {
		digits = bytes.TrimPrefix(s, []byte("+"))
	}
	if len(digits) == 0 || bytes.IndexByte(s, '_') >= 0 {
		return 0, false
	}
	if len(digits) >= 3 && bytes.EqualFold(digits[:3], []byte("nan")) {
		return math.NaN(), isNaNTail(digits[3:])
	}
	text := string(s)
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' && !bytes.ContainsAny(digits, "pP") {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, bits)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// isNaNTail reports whether a text may follow nan: nothing, or letters and digits in brackets.
func isNaNTail(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	for _, c := range s[1 : len(s)-1] {
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_') {
			return false
		}
	}
	return true
}
