package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"ringtrain/export/tfpb"
)

// patternOps returns the operations on regular expressions. Go's are those of RE2, which TensorFlow uses.
func patternOps() []op {
	return []op{
		{
			name:  "StaticRegexFullMatch",
			kinds: "s",
			bind:  func(n *node) (any, error) { return newFullMatch(n.text("pattern", "")) },
			shape: likeInput(tfpb.DataType_DT_BOOL),
			run: func(c *call) error {
				m := c.bound.(*fullMatch)
				for i, s := range c.in[0].Bytes {
					c.out[0].Bool[i] = m.matches(s)
				}
				return nil
			},
		},
		eachText("StaticRegexReplace", func(n *node) (textFunc, error) {
			r, err := newReplacement([]byte(n.text("pattern", "")), []byte(n.text("rewrite", "")), n.boolean("replace_global", true))
			if err != nil {
				return nil, err
			}
			return r.apply, nil
		}),
		{name: "RegexReplace", kinds: "sss", bind: func(*node) (any, error) { return &atomic.Pointer[replacement]{}, nil }, shape: likeInput(tfpb.DataType_DT_STRING), run: regexReplace},
	}
}

// pattern is a regular expression. In a text that is not UTF-8, RE2 does not match the bytes that are
// none; Go takes each of these for U+FFFD.
type pattern struct{ plain, strict *regexp.Regexp }

func newPattern(text string) (pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	plain, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	exclude(tree)
	strict, err := regexp.Compile(tree.String())
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return pattern{plain, strict}, nil
}

// of returns the expression for a text.
func (p *pattern) of(text []byte) *regexp.Regexp {
	if utf8.Valid(text) {
		return p.plain
	}
	return p.strict
}

// exclude makes an expression match no U+FFFD.
func exclude(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		exclude(sub)
	}
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op, re.Rune = syntax.OpCharClass, []rune{0, unicode.MaxRune}
	case syntax.OpAnyCharNotNL:
		re.Op, re.Rune = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.OpLiteral:
		if bytes.ContainsRune([]byte(string(re.Rune)), utf8.RuneError) {
			re.Op, re.Rune = syntax.OpNoMatch, nil
		}
	}
	if re.Op != syntax.OpCharClass {
		return
	}
	var kept []rune
	for i := 0; i < len(re.Rune); i += 2 {
		lo, hi := re.Rune[i], re.Rune[i+1]
		if lo > utf8.RuneError || hi < utf8.RuneError {
			kept = append(kept, lo, hi)
			continue
		}
		if lo < utf8.RuneError {
			kept = append(kept, lo, utf8.RuneError-1)
		}
		if hi > utf8.RuneError {
			kept = append(kept, utf8.RuneError+1, hi)
		}
	}
	re.Rune = kept
}

// fullMatch is a pattern that whole texts match. Of one that only some texts match, it has these.
type fullMatch struct {
	texts map[string]bool
	pattern
}

// maxTexts bounds the texts that a pattern is taken apart into.
const maxTexts = 1000

func newFullMatch(text string) (*fullMatch, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	m := &fullMatch{}
	if words := matched(tree); words != nil {
		m.texts = map[string]bool{}
		for _, w := range words {
			m.texts[w] = true
		}
		return m, nil
	}
	m.pattern, err = newPattern(`\A(?:` + text + `)\z`)
	return m, err
}

func (m *fullMatch) matches(s []byte) bool {
	if m.texts != nil {
		return m.texts[string(s)]
	}
	return m.of(s).Match(s)
}

// matched returns all texts that an expression matches as a whole, nil if these are too many or none.
func matched(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && len(all) <= maxTexts; r++ {
				all = append(all, string(r))
			}
		}
		if len(all) <= maxTexts {
			return all
		}
	case syntax.OpCapture:
		return matched(re.Sub[0])
	case syntax.OpQuest:
		if all := matched(re.Sub[0]); all != nil {
			return append(all, "")
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some := matched(sub)
			all = append(all, some...)
			if some == nil || len(all) > maxTexts {
				return nil
			}
		}
		return all
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			ends := matched(sub)
			if len(ends) == 0 || len(all)*len(ends) > maxTexts {
				return nil
			}
			var next []string
			for _, begin := range all {
				for _, end := range ends {
					next = append(next, begin+end)
				}
			}
			all = next
		}
		return all
	}
	return nil
}

// replacement replaces matches of a pattern.
type replacement struct {
	text, rewrite []byte // as they were given
	pattern
	all   bool
	parts []rewritePart
	none  bool // the rewrite names a group that the pattern does not have: nothing is replaced
}

// rewritePart is bytes, or a group if these are nil.
type rewritePart struct {
	bytes []byte
	group int
}

func newReplacement(text, rewrite []byte, all bool) (*replacement, error) {
	p, err := newPattern(string(text))
	if err != nil {
		return nil, err
	}
	r := &replacement{text: bytes.Clone(text), rewrite: bytes.Clone(rewrite), pattern: p, all: all}
	for rest := r.rewrite; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\\')
		switch {
		case i < 0:
			r.parts, rest = append(r.parts, rewritePart{bytes: rest}), nil
		case i > 0:
			r.parts, rest = append(r.parts, rewritePart{bytes: rest[:i]}), rest[i:]
		case len(rest) > 1 && rest[1] == '\\':
			r.parts, rest = append(r.parts, rewritePart{bytes: rest[:1]}), rest[2:]
		case len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
			group := int(rest[1] - '0')
			r.parts, rest = append(r.parts, rewritePart{group: group}), rest[2:]
			r.none = r.none || group > p.plain.NumSubexp()
		default:
			return nil, fmt.Errorf("rewrite %q: a backslash is followed by no digit and no backslash", rewrite)
		}
	}
	return r, nil
}

// apply is a textFunc.
func (r *replacement) apply(a *arena, s []byte) ([]byte, error) {
	re := r.of(s)
	if r.none || !re.Match(s) {
		return s, nil
	}
	most := -1
	if !r.all {
		most = 1
	}
	start, done := len(a.bytes), 0
	for _, at := range re.FindAllSubmatchIndex(s, most) {
		a.bytes = append(a.bytes, s[done:at[0]]...)
		for _, p := range r.parts {
			if p.bytes == nil && at[2*p.group] >= 0 {
				a.bytes = append(a.bytes, s[at[2*p.group]:at[2*p.group+1]]...)
			}
			a.bytes = append(a.bytes, p.bytes...)
		}
		done = at[1]
	}
	a.bytes = append(a.bytes, s[done:]...)
	return a.text(start), nil
}

// regexReplace applies a pattern and a rewrite that are inputs. It keeps those of the run before.
func regexReplace(c *call) error {
	if len(c.in[1].Bytes) != 1 || len(c.in[2].Bytes) != 1 {
		return errors.New("pattern and rewrite are no scalars")
	}
	cache := c.bound.(*atomic.Pointer[replacement])
	text, rewrite := c.in[1].Bytes[0], c.in[2].Bytes[0]
	r := cache.Load()
	if r == nil || !bytes.Equal(r.text, text) || !bytes.Equal(r.rewrite, rewrite) {
		var err error
		if r, err = newReplacement(text, rewrite, c.node.boolean("replace_global", true)); err != nil {
			return err
		}
		cache.Store(r)
	}
	return c.eachText(r.apply)
}
