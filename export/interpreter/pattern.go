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
func fullMatch(n *node) (any, error) {
	text := n.text("pattern", "")
	words := map[string]bool{}
	for part := range strings.SplitSeq(text, "|") {
		word := strings.ReplaceAll(part, `\`, "")
		if regexp.QuoteMeta(word) != part {
			re, err := regexp.Compile(`\A(?:` + text + `)\z`)
			return func(s []byte) bool { return utf8.Valid(s) && re.Match(s) }, err
		}
		words[word] = true
	}
	return func(s []byte) bool { return words[string(s)] }, nil
}

func regexMatch(c *call) error {
	for i, s := range c.in[0].Bytes {
		c.out[0].Bool[i] = c.node.bound.(func([]byte) bool)(s)
	}
	return nil
}

// replaceAll binds the replacement of the pattern and rewrite of a node.
func replaceAll(n *node) (any, error) {
	r, err := newReplacement([]byte(n.text("pattern", "")), []byte(n.text("rewrite", "")))
	if err != nil {
		return nil, err
	}
	return textFunc(r.apply), nil
}

// replacement replaces the matches of a pattern.
type replacement struct {
	pattern, rewrite []byte
	re               *regexp.Regexp
	template         []byte // the rewrite, as package regexp has it
}

func newReplacement(pattern, rewrite []byte) (*replacement, error) {
	re, err := regexp.Compile(string(pattern))
	if err != nil {
		return nil, err
	}
	pairs, rest := []string{"$", "$$", `\\`, `\`}, strings.ReplaceAll(string(rewrite), `\\`, "")
	for group := range re.NumSubexp() + 1 {
		from := fmt.Sprintf(`\%d`, group)
		pairs, rest = append(pairs, from, fmt.Sprintf("${%d}", group)), strings.ReplaceAll(rest, from, "")
	}
	if strings.Contains(rest, `\`) {
		return nil, fmt.Errorf("rewrite %q names a group that %q does not have", rewrite, pattern)
	}
	template := strings.NewReplacer(pairs...).Replace(string(rewrite))
	return &replacement{bytes.Clone(pattern), bytes.Clone(rewrite), re, []byte(template)}, nil
}

// apply is a textFunc. What stands between bytes that are not of UTF-8 is a text each.
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
func regexReplace(c *call) error {
	if len(c.in[1].Bytes) != 1 || len(c.in[2].Bytes) != 1 {
		return c.misfit("texts, a scalar pattern and a scalar rewrite")
	}
	pattern, rewrite := c.in[1].Bytes[0], c.in[2].Bytes[0]
	r, _ := c.scratch.(*replacement)
	if r == nil || !bytes.Equal(r.pattern, pattern) || !bytes.Equal(r.rewrite, rewrite) {
		var err error
		r, err = newReplacement(pattern, rewrite)
		if err != nil {
			return err
		}
		c.scratch = r
	}
	for i, s := range c.in[0].Bytes {
		c.out[0].Bytes[i] = r.apply(nil, s)
	}
	return nil
}
