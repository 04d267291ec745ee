package interpreter

import (
	"bytes"
	"errors"
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
	const utf8s = "input_encoding input_encoding=UTF-8 output_encoding output_encoding=UTF-8 errors=replace replace_control_characters=false"
	ops := []op{
		{name: "StringToNumber", kinds: "s", attrs: "out_type", types: []tfpb.DataType{tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT64}, run: stringToNumber},
		{name: "StringJoin", kinds: "s+", bind: func(n *node) any { return n.text("separator") }, run: stringJoin},
		{name: "StringSplitV2", kinds: "ss", out: "indices+values+shape", attrs: "maxsplit=-1", run: stringSplit},
		{name: "StringNGrams", kinds: "si", out: "ngrams+ngrams_splits", attrs: "separator pad_width=0 preserve_short_sequences=false", bind: bindNGrams, run: stringNGrams},
		{name: "RegexReplace", kinds: "sss", attrs: "replace_global=true", shape: likeInput(0), run: regexReplace},
	}
	return append(ops,
		eachText("StringStrip", "", tfpb.DataType_DT_STRING, textValues, strip),
		eachText("StringLower", "", tfpb.DataType_DT_STRING, textValues, lower),
		eachText("UnicodeTranscode", utf8s, tfpb.DataType_DT_STRING, textValues, transcode),
		eachText("StaticRegexReplace", "pattern rewrite replace_global=true", tfpb.DataType_DT_STRING, textValues, replaceAll),
		eachText("StaticRegexFullMatch", "pattern", tfpb.DataType_DT_BOOL, boolValues, fullMatch),
		eachText("StringToHashBucketFast", "num_buckets", tfpb.DataType_DT_INT64, int64Values, hashBucket),
	)
}

// eachText returns the operation whose output has for each text of the input what a function makes of it. The function is
// bound to the attributes of a node. A text that it returns may share memory with its argument, or be one of the arena.
func eachText[T any](name, attrs string, t tfpb.DataType, of values[T], bind func(n *node) func(a *arena, s []byte) T) op {
	return op{name: name, kinds: "s", attrs: attrs, bind: func(n *node) any { return bind(n) }, shape: likeInput(t), run: func(c *call) {
		f, a, out := c.node.bound.(func(a *arena, s []byte) T), c.arena(), *of(c.out[0])
		for i, s := range c.in[0].Bytes {
			out[i] = f(a, s)
		}
	}}
}

func strip(*node) func(a *arena, s []byte) []byte {
	return func(_ *arena, s []byte) []byte { return bytes.Trim(s, blanks) }
}

// hashBucket binds the number of the bucket of a text.
func hashBucket(n *node) func(a *arena, s []byte) int64 {
	buckets := n.integer("num_buckets", 0)
	if buckets < 1 {
		refuse("num_buckets is %d, want 1 or more", buckets)
	}
	return func(_ *arena, s []byte) int64 { return int64(farm.Fingerprint64(s) % uint64(buckets)) }
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

// check refuses texts that take more memory than a tensor may.
func (a *arena) check() {
	if len(a.bytes) > maxBytes || len(a.texts) > maxBytes/textValues.size() {
		refuse("texts of more than %d bytes", maxBytes)
	}
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

// stringToNumber reads numbers.
func stringToNumber(c *call) {
	t := c.node.typ("out_type")
	c.make(0, t, c.in[0].Shape...)
	for i, s := range c.in[0].Bytes {
		var err error
		plain := string(bytes.Trim(s, blanks))
		if t == tfpb.DataType_DT_INT64 {
			c.out[0].Int64[i], err = strconv.ParseInt(plain, 10, 64)
		} else {
			c.out[0].Float64[i], err = parseFloat(plain)
		}
		if err != nil {
			refuse("%s is no number of %v", phrase.Name(string(s)), t)
		}
	}
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
func stringJoin(c *call) {
	c.broadcast(tfpb.DataType_DT_STRING)
	for _, t := range c.in {
		c.want(len(t.Shape) == 0 || slices.Equal(t.Shape, c.out[0].Shape), "equal ones or scalars")
	}
	a := c.arena()
	for i := range c.out[0].Bytes {
		a.texts = a.texts[:0]
		for _, t := range c.in {
			a.texts = append(a.texts, t.Bytes[min(i, len(t.Bytes)-1)])
		}
		c.out[0].Bytes[i] = a.join(c.node.bound.(string), a.texts)
		a.check()
	}
}

// stringSplit cuts texts into pieces between separators, or between blanks if the separator is empty. The pieces are a
// sparse matrix.
func stringSplit(c *call) {
	c.want(len(c.in[0].Shape) == 1 && len(c.in[1].Bytes) == 1, "a vector of texts and a separator")
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
		a.check()
		a.ends = append(a.ends, len(a.texts))
	}
	c.setRows(a.texts, a.ends)
}

// setRows makes a sparse matrix of texts, of which each row ends where ends say.
func (c *call) setRows(texts [][]byte, ends []int) {
	first, most := 0, 0
	for _, end := range ends {
		first, most = end, max(most, end-first)
	}
	c.makeSparse(0, 1, tfpb.DataType_DT_STRING, len(texts), len(ends), most)
	copy(c.out[1].Bytes, texts)
	first = 0
	for row, end := range ends {
		c.out[0].setIndices(row, first, end-first)
		first = end
	}
}

// makeSparse makes the outputs of a sparse tensor of n values: indices, values and shape, of which each is by outputs
// behind the one before.
func (c *call) makeSparse(first, by int, t tfpb.DataType, n int, shape ...int) {
	const long = tfpb.DataType_DT_INT64
	c.make(first, long, n, len(shape))
	c.make(first+by, t, n)
	c.make(first+2*by, long, len(shape))
	for k, size := range shape {
		c.out[first+2*by].Int64[k] = int64(size)
	}
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

func bindNGrams(n *node) any {
	widths := n.integers("ngram_widths")
	if len(widths) == 0 || slices.Min(widths) < 1 {
		refuse("ngram_widths are %v, want some from 1 on", widths)
	}
	return &ngrams{n.text("separator"), widths}
}

// stringNGrams joins texts of a row that follow each other. Rows are given and returned by their splits.
func stringNGrams(c *call) {
	g, data := c.node.bound.(*ngrams), c.in[0].Bytes
	ends := c.rowEnds(1, len(data))
	c.make(1, c.in[1].Type, c.in[1].Shape...)
	a, first := c.arena(), 0
	for i, end := range ends {
		c.out[1].put(i, len(a.texts))
		for _, w := range g.widths {
			for at := first; int(w) <= end-at; at++ {
				a.texts = append(a.texts, a.join(g.separator, data[at:][:w]))
				a.check()
			}
		}
		first = end
	}
	c.out[1].put(len(ends), len(a.texts))
	c.make(0, tfpb.DataType_DT_STRING, len(a.texts))
	copy(c.out[0].Bytes, a.texts)
}
