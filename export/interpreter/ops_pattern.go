package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"ringtrain/export/tfpb"
)

// patternOps returns the operations on regular expressions. Go's are those of RE2, which TensorFlow uses.
func patternOps() []op {
	return []op{
		{name: "StaticRegexFullMatch", kinds: "s", bind: bindFullMatch, shape: likeInput(tfpb.DataType_DT_BOOL), run: func(c *call) error {
			for i, s := range c.in[0].Bytes {
				c.out[0].Bool[i] = c.bound.(func([]byte) bool)(s)
			}
			return nil
		}},
		eachText("StaticRegexReplace", func(n *node) (textFunc, error) {
			r, err := newReplacement(n, []byte(n.text("pattern", "")), []byte(n.text("rewrite", "")))
			if err != nil {
				return nil, err
			}
			return r.apply, nil
		}),
		{name: "RegexReplace", kinds: "sss", bind: func(*node) (any, error) { return &atomic.Pointer[replacement]{}, nil }, shape: likeInput(0), run: regexReplace},
	}
}

// bindFullMatch returns whether a text is one of the words of a pattern w|w|…, or matches another pattern as a whole.
// RE2 matches no byte that is not of UTF-8.
func bindFullMatch(n *node) (any, error) {
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

// replacement replaces the matches of a pattern.
type replacement struct {
	text, rewrite []byte // as they were given
	re            *regexp.Regexp
	template      []byte // the rewrite, as package regexp has it
}

func newReplacement(n *node, text, rewrite []byte) (*replacement, error) {
	re, err := regexp.Compile(string(text))
	if err != nil || !n.boolean("replace_global", true) {
		return nil, fmt.Errorf("replace %q: want a pattern, and all matches replaced: %w", text, err)
	}
	r := &replacement{text: bytes.Clone(text), rewrite: bytes.Clone(rewrite), re: re}
	for i := 0; i < len(rewrite); i++ {
		switch c := rewrite[i]; {
		case c == '$':
			r.template = append(r.template, "$$"...)
			continue
		case c != '\\':
			r.template = append(r.template, c)
			continue
		}
		i++
		switch {
		case i < len(rewrite) && rewrite[i] == '\\':
			r.template = append(r.template, '\\')
		case i < len(rewrite) && rewrite[i] >= '0' && int(rewrite[i]-'0') <= re.NumSubexp():
			r.template = fmt.Appendf(r.template, "${%c}", rewrite[i])
		default:
			return nil, fmt.Errorf("rewrite %q: a backslash is followed by no backslash and no group of %q", rewrite, text)
		}
	}
	return r, nil
}

// apply is a textFunc. RE2 matches no byte that is not of UTF-8: what stands between these is a text each.
func (r *replacement) apply(_ *arena, s []byte) []byte {
	if !r.re.Match(s) {
		return s
	}
	var out []byte
	for {
		n := 0
		for n < len(s) {
			c, size := utf8.DecodeRune(s[n:])
			if c == utf8.RuneError && size == 1 {
				break
			}
			n += size
		}
		valid := s[:n]
		if r.re.Match(valid) {
			valid = r.re.ReplaceAll(valid, r.template)
		}
		out = append(out, valid...)
		if n == len(s) {
			return out
		}
		out, s = append(out, s[n]), s[n+1:]
	}
}

// regexReplace applies a pattern and a rewrite that are inputs. It keeps those of the run before.
func regexReplace(c *call) error {
	if len(c.in[1].Bytes) != 1 || len(c.in[2].Bytes) != 1 {
		return errors.New("want a scalar pattern and a scalar rewrite")
	}
	cache, text, rewrite := c.bound.(*atomic.Pointer[replacement]), c.in[1].Bytes[0], c.in[2].Bytes[0]
	r := cache.Load()
	if r == nil || !bytes.Equal(r.text, text) || !bytes.Equal(r.rewrite, rewrite) {
		fresh, err := newReplacement(c.node, text, rewrite)
		if err != nil {
			return err
		}
		cache.Store(fresh)
		r = fresh
	}
	return c.eachText(r.apply)
}
