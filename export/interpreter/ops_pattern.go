package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"unicode"
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

// pattern is a regular expression. In a text that is no UTF-8, RE2 does not match the bytes that are none; Go
// takes each of these for U+FFFD, which strict does not match.
type pattern struct{ plain, strict *regexp.Regexp }

func newPattern(text string) (p pattern, err error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, fmt.Errorf("pattern %q: %w", text, err)
	}
	exclude(tree)
	p.plain, err = regexp.Compile(text)
	if err == nil {
		p.strict, err = regexp.Compile(tree.String())
	}
	return p, err
}

// of returns the expression for a text.
func (p *pattern) of(text []byte) *regexp.Regexp {
	if utf8.Valid(text) {
		return p.plain
	}
	return p.strict
}

// exclude takes U+FFFD out of what an expression matches, except where it stands for itself.
func exclude(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		exclude(sub)
	}
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op, re.Rune = syntax.OpCharClass, []rune{0, unicode.MaxRune}
	case syntax.OpAnyCharNotNL:
		re.Op, re.Rune = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	for i := 0; re.Op == syntax.OpCharClass && i < len(re.Rune); i += 2 {
		if lo, hi := re.Rune[i], re.Rune[i+1]; lo < utf8.RuneError && hi > utf8.RuneError {
			re.Rune = append(re.Rune[:i:i], append([]rune{lo, utf8.RuneError - 1, utf8.RuneError + 1, hi}, re.Rune[i+2:]...)...)
			i += 2
		}
	}
}

// bindFullMatch returns whether a text is one of the words of a pattern w|w|…, or matches another pattern as a whole.
func bindFullMatch(n *node) (any, error) {
	text := n.text("pattern", "")
	words := map[string]bool{}
	for part := range strings.SplitSeq(text, "|") {
		word := strings.ReplaceAll(part, `\`, "")
		if regexp.QuoteMeta(word) != part {
			p, err := newPattern(`\A(?:` + text + `)\z`)
			return func(s []byte) bool { return p.of(s).Match(s) }, err
		}
		words[word] = true
	}
	return func(s []byte) bool { return words[string(s)] }, nil
}

// replacement replaces the matches of a pattern.
type replacement struct {
	text, rewrite []byte // as they were given
	pattern
	template []byte // the rewrite, as package regexp has it
}

func newReplacement(n *node, text, rewrite []byte) (*replacement, error) {
	if !n.boolean("replace_global", true) {
		return nil, errors.New("replace_global is false: no model that was tried has it so")
	}
	p, err := newPattern(string(text))
	if err != nil {
		return nil, err
	}
	r := &replacement{text: bytes.Clone(text), rewrite: bytes.Clone(rewrite), pattern: p}
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
		case i < len(rewrite) && rewrite[i] >= '0' && int(rewrite[i]-'0') <= p.plain.NumSubexp():
			r.template = fmt.Appendf(r.template, "${%c}", rewrite[i])
		default:
			return nil, fmt.Errorf("rewrite %q: a backslash is followed by no backslash and no group of %q", rewrite, text)
		}
	}
	return r, nil
}

// apply is a textFunc.
func (r *replacement) apply(_ *arena, s []byte) []byte {
	re := r.of(s)
	if !re.Match(s) {
		return s
	}
	return re.ReplaceAll(s, r.template)
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
