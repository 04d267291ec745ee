package interpreter

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// This file has the operations on regular expressions. Go's are those of RE2, which TensorFlow uses, but for bytes that
// are not of UTF-8: RE2 matches none of them.

// fullMatch binds whether a text is one of the words of a pattern w|w|…, or matches another pattern as a whole.
func fullMatch(n *node) func(a *arena, s []byte) bool {
	text := n.text("pattern")
	words := map[string]bool{}
	for part := range strings.SplitSeq(text, "|") {
		word := strings.ReplaceAll(part, `\`, "")
		if regexp.QuoteMeta(word) != part {
			re := sure(regexp.Compile(`\A(?:` + text + `)\z`))
			return func(_ *arena, s []byte) bool { return utf8.Valid(s) && re.Match(s) }
		}
		words[word] = true
	}
	return func(_ *arena, s []byte) bool { return words[string(s)] }
}

// replaceAll binds the replacement of the pattern and rewrite of a node.
func replaceAll(n *node) func(a *arena, s []byte) []byte {
	return newReplacement(n.attrs["pattern"].GetS(), n.attrs["rewrite"].GetS()).apply
}

// replacement replaces the matches of a pattern.
type replacement struct {
	pattern, rewrite []byte
	re               *regexp.Regexp
	template         []byte // the rewrite, as package regexp has it
}

func newReplacement(pattern, rewrite []byte) *replacement {
	re := sure(regexp.Compile(string(pattern)))
	pairs, rest := []string{"$", "$$", `\\`, `\`}, strings.ReplaceAll(string(rewrite), `\\`, "")
	for group := range re.NumSubexp() + 1 {
		from := fmt.Sprintf(`\%d`, group)
		pairs, rest = append(pairs, from, fmt.Sprintf("${%d}", group)), strings.ReplaceAll(rest, from, "")
	}
	if strings.Contains(rest, `\`) {
		refuse("rewrite %q names a group that %q does not have", rewrite, pattern)
	}
	template := strings.NewReplacer(pairs...).Replace(string(rewrite))
	return &replacement{bytes.Clone(pattern), bytes.Clone(rewrite), re, []byte(template)}
}

// apply returns s with its matches replaced. Bytes that are not of UTF-8 end a text, and the next one begins behind them.
func (r *replacement) apply(_ *arena, s []byte) []byte {
	if !r.re.Match(s) {
		return s
	}
	if utf8.Valid(s) {
		return r.re.ReplaceAll(s, r.template)
	}
	var out []byte
	for {
		n := 0
		for c, size := utf8.DecodeRune(s); size > 0 && (c != utf8.RuneError || size > 1); c, size = utf8.DecodeRune(s[n:]) {
			n += size
		}
		out = append(out, r.apply(nil, s[:n])...)
		if n == len(s) {
			return out
		}
		out, s = append(out, s[n]), s[n+1:]
	}
}

// regexReplace applies a pattern and a rewrite that are inputs. It keeps those of the run before.
func regexReplace(c *call) {
	c.want(len(c.in[1].Bytes) == 1 && len(c.in[2].Bytes) == 1, "texts, a scalar pattern and a scalar rewrite")
	pattern, rewrite := c.in[1].Bytes[0], c.in[2].Bytes[0]
	r, _ := c.scratch.(*replacement)
	if r == nil || !bytes.Equal(r.pattern, pattern) || !bytes.Equal(r.rewrite, rewrite) {
		r = newReplacement(pattern, rewrite)
		c.scratch = r
	}
	for i, s := range c.in[0].Bytes {
		c.out[0].Bytes[i] = r.apply(nil, s)
	}
}
