package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dgryski/go-farm"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// blanks are the bytes that TensorFlow strips, and between which it splits.
const blanks = " \t\n\v\f\r"

// stringOps returns the operations of this file and of those on patterns and letters. An attribute that no model that
// was tried has is refused.
func stringOps() []op {
	strip := textFunc(func(_ *arena, s []byte) []byte { return bytes.Trim(s, blanks) })
	return []op{
		{name: "StringStrip", kinds: "s", bind: func(*node) (any, error) { return strip, nil }, shape: likeInput(0), run: eachText},
		{name: "StringLower", kinds: "s", bind: lower, shape: likeInput(0), run: eachText},
		{name: "UnicodeTranscode", kinds: "s", attrs: "input_encoding input_encoding=UTF-8 output_encoding output_encoding=UTF-8 errors=replace replace_control_characters=false", bind: transcode, shape: likeInput(0), run: eachText},
		{name: "StaticRegexReplace", kinds: "s", attrs: "pattern rewrite replace_global=true", bind: replaceAll, shape: likeInput(0), run: eachText},
		{name: "RegexReplace", kinds: "sss", attrs: "replace_global=true", shape: likeInput(0), run: regexReplace},
		{name: "StaticRegexFullMatch", kinds: "s", attrs: "pattern", bind: fullMatch, shape: likeInput(tfpb.DataType_DT_BOOL), run: regexMatch},
		{name: "StringToHashBucketFast", kinds: "s", attrs: "num_buckets", bind: bindBuckets, shape: likeInput(tfpb.DataType_DT_INT64), run: hashBucket},
		{name: "StringToNumber", kinds: "s", attrs: "out_type", types: []tfpb.DataType{tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT64}, run: stringToNumber},
		{name: "StringJoin", kinds: "s+", bind: func(n *node) (any, error) { return n.text("separator", ""), nil }, run: stringJoin},
		{name: "StringSplitV2", kinds: "ss", out: "indices+values+shape", attrs: "maxsplit=-1", run: stringSplit},
		{name: "StringNGrams", kinds: "si", out: "ngrams+ngrams_splits", attrs: "separator pad_width=0 preserve_short_sequences=false", bind: bindNGrams, run: stringNGrams},
	}
}

func bindBuckets(n *node) (any, error) {
	buckets := n.integer("num_buckets", 0)
	if buckets < 1 {
		return nil, fmt.Errorf("num_buckets is %d, want 1 or more", buckets)
	}
	return uint64(buckets), nil
}

// textFunc makes a text of another one. The result may share memory with s, or be a text of the arena.
type textFunc func(a *arena, s []byte) []byte

// eachText sets output 0 to what the bound function makes of each text of input 0.
func eachText(c *call) error {
	a := c.arena()
	for i, s := range c.in[0].Bytes {
		c.out[0].Bytes[i] = c.node.bound.(textFunc)(a, s)
	}
	return nil
}

// arena has the texts that a node makes in a run, their bytes, and where rows of them end.
type arena struct {
	bytes []byte
	texts [][]byte
	ends  []int
}

// arena returns the memory for texts of the node, empty.
func (c *call) arena() *arena {
	a, _ := c.scratch.(*arena)
	if a == nil {
		a = &arena{}
		c.scratch = a
	}
	a.bytes, a.texts, a.ends = a.bytes[:0], a.texts[:0], a.ends[:0]
	return a
}

// full returns an error if the texts take more memory than a tensor may.
func (a *arena) full() error {
	if len(a.bytes) > maxBytes || len(a.texts) > maxBytes/textValues.size() {
		return fmt.Errorf("texts of more than %d bytes", maxBytes)
	}
	return nil
}

// text returns the bytes from start on. They stay when the arena grows.
func (a *arena) text(start int) []byte { return a.bytes[start:len(a.bytes):len(a.bytes)] }

// join returns texts with a separator between them.
func (a *arena) join(separator string, texts [][]byte) []byte {
	start := len(a.bytes)
	for i, text := range texts {
		if i > 0 {
			a.bytes = append(a.bytes, separator...)
		}
		a.bytes = append(a.bytes, text...)
	}
	return a.text(start)
}

// hashBucket sets the number of the bucket of each text.
func hashBucket(c *call) error {
	buckets := c.node.bound.(uint64)
	for i, s := range c.in[0].Bytes {
		c.out[0].Int64[i] = int64(farm.Fingerprint64(s) % buckets)
	}
	return nil
}

// stringToNumber reads numbers.
func stringToNumber(c *call) error {
	t := c.node.typ("out_type")
	if err := c.make(0, t, c.in[0].Shape...); err != nil {
		return err
	}
	for i, s := range c.in[0].Bytes {
		var err error
		plain := string(bytes.Trim(s, blanks))
		if t == tfpb.DataType_DT_INT64 {
			c.out[0].Int64[i], err = strconv.ParseInt(plain, 10, 64)
		} else {
			c.out[0].Float64[i], err = parseFloat(plain)
		}
		if err != nil {
			return fmt.Errorf("%s is no number of %v", phrase.Name(string(s)), t)
		}
	}
	return nil
}

// parseFloat reads a number as TensorFlow does: with a sign of nan, without an exponent of a hexadecimal number, and
// without a _. One that is too large is infinite.
func parseFloat(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	plain := strings.TrimLeft(s, "+-")
	switch {
	case strings.Contains(s, "_"):
		return 0, strconv.ErrSyntax
	case err == nil || errors.Is(err, strconv.ErrRange):
		return x, nil
	case strings.EqualFold(plain, "nan") && len(s) == len("+nan"):
		return math.NaN(), nil
	case len(plain) > 2 && strings.EqualFold(plain[:2], "0x"):
		return strconv.ParseFloat(s+"p0", 64)
	}
	return 0, err
}

// stringJoin joins the texts at each place. A scalar is at all places.
func stringJoin(c *call) error {
	if err := c.broadcast(tfpb.DataType_DT_STRING); err != nil {
		return err
	}
	for _, t := range c.in {
		if len(t.Shape) > 0 && !slices.Equal(t.Shape, c.out[0].Shape) {
			return c.misfit("equal ones or scalars")
		}
	}
	a := c.arena()
	for i := range c.out[0].Bytes {
		a.texts = a.texts[:0]
		for _, t := range c.in {
			a.texts = append(a.texts, t.Bytes[min(i, len(t.Bytes)-1)])
		}
		c.out[0].Bytes[i] = a.join(c.node.bound.(string), a.texts)
		if err := a.full(); err != nil {
			return err
		}
	}
	return nil
}

// stringSplit cuts texts into pieces between separators, or between blanks if the separator is empty. The pieces are a
// sparse matrix.
func stringSplit(c *call) error {
	if len(c.in[0].Shape) != 1 || len(c.in[1].Bytes) != 1 {
		return c.misfit("a vector of texts and a separator")
	}
	a, separator := c.arena(), c.in[1].Bytes[0]
	isBlank := func(r rune) bool { return strings.ContainsRune(blanks, r) }
	for _, s := range c.in[0].Bytes {
		for more := len(separator) > 0; more; {
			var piece []byte
			piece, s, more = bytes.Cut(s, separator)
			a.texts = append(a.texts, piece)
		}
		for piece := range bytes.FieldsFuncSeq(s, isBlank) {
			a.texts = append(a.texts, piece)
		}
		if err := a.full(); err != nil {
			return err
		}
		a.ends = append(a.ends, len(a.texts))
	}
	return c.setRows(a.texts, a.ends)
}

// setRows makes a sparse matrix of texts, of which each row ends where ends say.
func (c *call) setRows(texts [][]byte, ends []int) error {
	first, most := 0, 0
	for _, end := range ends {
		first, most = end, max(most, end-first)
	}
	if err := c.makeSparse(0, 1, tfpb.DataType_DT_STRING, len(texts), len(ends), most); err != nil {
		return err
	}
	copy(c.out[1].Bytes, texts)
	first = 0
	for row, end := range ends {
		c.out[0].setIndices(row, first, end-first)
		first = end
	}
	return nil
}

// makeSparse makes the outputs of a sparse tensor of n values: indices, values and shape, of which each is by outputs
// behind the one before.
func (c *call) makeSparse(first, by int, t tfpb.DataType, n int, shape ...int) error {
	const long = tfpb.DataType_DT_INT64
	err := errors.Join(c.make(first, long, n, len(shape)), c.make(first+by, t, n), c.make(first+2*by, long, len(shape)))
	for k := 0; err == nil && k < len(shape); k++ {
		c.out[first+2*by].Int64[k] = int64(shape[k])
	}
	return err
}

// setIndices sets the indices of the n values of a row, from value at on. A tensor of one dimension has no rows.
func (t *Tensor) setIndices(row, at, n int) {
	rank := t.Shape[1]
	for j := range n {
		index := t.Int64[(at+j)*rank:][:rank]
		index[0] = int64(row)
		index[rank-1] = int64(j)
	}
}

// ngrams are the attributes of StringNGrams.
type ngrams struct {
	separator string
	widths    []int64
}

func bindNGrams(n *node) (any, error) {
	widths := n.integers("ngram_widths")
	if len(widths) == 0 || slices.Min(widths) < 1 {
		return nil, fmt.Errorf("ngram_widths are %v, want some from 1 on", widths)
	}
	return &ngrams{n.text("separator", ""), widths}, nil
}

// stringNGrams joins texts of a row that follow each other. Rows are given and returned by their splits.
func stringNGrams(c *call) error {
	g, data := c.node.bound.(*ngrams), c.in[0].Bytes
	ends, err := c.rowEnds(1, len(data))
	if err == nil {
		err = c.make(1, c.in[1].Type, c.in[1].Shape...)
	}
	if err != nil {
		return err
	}
	a, first := c.arena(), 0
	for i, end := range ends {
		c.out[1].put(i, len(a.texts))
		for _, w := range g.widths {
			for at := first; int(w) <= end-at && a.full() == nil; at++ {
				a.texts = append(a.texts, a.join(g.separator, data[at:][:w]))
			}
		}
		first = end
	}
	c.out[1].put(len(ends), len(a.texts))
	err = errors.Join(a.full(), c.make(0, tfpb.DataType_DT_STRING, len(a.texts)))
	if err == nil {
		copy(c.out[0].Bytes, a.texts)
	}
	return err
}
