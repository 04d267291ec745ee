package column

import (
	"unicode"
	"unicode/utf8"
)

// span is a part of a text.
type span struct{ from, to int }

// words appends the words of a text to r.pieces: runs of letters and digits, then each two that follow one
// another, with a blank between, and so on up to rule.NGrams. Bytes that are no UTF-8 separate words.
func (r *Runner) words(rule *bagRule, text []byte) {
	plain, spans, within := r.joined[:0], r.spans[:0], false
	for len(text) > 0 {
		c, size := rune(text[0]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text)
		}
		text = text[size:]
		if !ofWord(c) {
			within = false
			continue
		}
		if !within {
			if len(spans) > 0 {
				plain = append(plain, ' ')
			}
			spans = append(spans, span{from: len(plain)})
			within = true
		}
		if rule.Lower {
			c = unicode.ToLower(c)
		}
		plain = utf8.AppendRune(plain, c)
		spans[len(spans)-1].to = len(plain)
	}
	for n := range rule.NGrams {
		for i := 0; i+n < len(spans); i++ {
			r.pieces = append(r.pieces, plain[spans[i].from:spans[i+n].to])
		}
	}
	r.joined, r.spans = plain, spans
}

// ofWord reports whether words have the letter or digit c.
func ofWord(c rune) bool {
	if c < utf8.RuneSelf {
		return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}
