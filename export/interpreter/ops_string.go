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

// stringOps returns the operations of this file, of those on patterns and on letters.
func stringOps() []op {
	return append(patternOps(), []op{
		eachText("StringStrip", func(*node) (textFunc, error) {
			return func(_ *arena, s []byte) []byte { return bytes.Trim(s, blanks) }, nil
		}),
		eachText("StringLower", lower),
		eachText("UnicodeTranscode", transcode),
		{name: "StringToHashBucketFast", kinds: "s", bind: bindBuckets, shape: likeInput(tfpb.DataType_DT_INT64), run: hashBucket},
		{name: "StringToNumber", kinds: "s", bind: bindNumbers, run: stringToNumber},
		{name: "StringJoin", kinds: "s+", bind: func(n *node) (any, error) { return n.text("separator", ""), nil }, run: stringJoin},
		{name: "StringSplitV2", kinds: "ss", out: "indices+values+shape", bind: only("maxsplit", -1), run: stringSplit},
		{name: "StringNGrams", kinds: "si", out: "ngrams+ngrams_splits", bind: bindNGrams, run: stringNGrams},
	}...)
}

// textFunc makes a text of another one. The result may share memory with s, or be a text of the arena.
type textFunc func(a *arena, s []byte) []byte

// eachText returns an operation that applies a function to each text of input 0.
func eachText(name string, bind func(n *node) (textFunc, error)) op {
	return op{
		name: name, kinds: "s", bind: func(n *node) (any, error) { return bind(n) }, shape: likeInput(0),
		run: func(c *call) error { return c.eachText(c.bound.(textFunc)) },
	}
}

// eachText sets output 0 to f of each text of input 0.
func (c *call) eachText(f textFunc) error {
	a := c.arena()
	for i, s := range c.in[0].Bytes {
		c.out[0].Bytes[i] = f(a, s)
	}
	return nil
}

// only accepts one value of an integer attribute: no model that was tried has another.
func only(name string, want int) func(n *node) (any, error) {
	return func(n *node) (any, error) {
		if v := n.integer(name, want); v != want {
			return nil, fmt.Errorf("%s is %d, want %d", name, v, want)
		}
		return nil, nil
	}
}

// arena has the bytes of the texts that a node makes in a run.
type arena struct{ bytes []byte }

// arena returns the memory for texts of the node, empty.
func (c *call) arena() *arena {
	a, _ := c.scratch.(*arena)
	if a == nil {
		a = &arena{}
		c.scratch = a
	}
	a.bytes = a.bytes[:0]
	return a
}

// text returns the bytes from start on. They stay when the arena grows.
func (a *arena) text(start int) []byte { return a.bytes[start:len(a.bytes):len(a.bytes)] }

func bindBuckets(n *node) (any, error) {
	v := n.integer("num_buckets", 0)
	if v < 1 {
		return nil, fmt.Errorf("num_buckets is %d, want 1 or more", v)
	}
	return uint64(v), nil
}

// hashBucket sets the number of the bucket of each text.
func hashBucket(c *call) error {
	for i, s := range c.in[0].Bytes {
		c.out[0].Int64[i] = int64(farm.Fingerprint64(s) % c.bound.(uint64))
	}
	return nil
}

func bindNumbers(n *node) (any, error) {
	t := n.typ("out_type")
	if t == tfpb.DataType_DT_INVALID {
		t = tfpb.DataType_DT_FLOAT
	}
	if !slices.Contains(numbers, t) {
		return nil, fmt.Errorf("out_type is %v, want one of %v", t, numbers)
	}
	return t, nil
}

// stringToNumber reads numbers.
func stringToNumber(c *call) error {
	out, t := c.out[0], c.bound.(tfpb.DataType)
	if err := c.make(0, t, c.in[0].Shape...); err != nil {
		return err
	}
	for i, s := range c.in[0].Bytes {
		var x float64
		var n int64
		var err error
		plain := bytes.Trim(s, blanks)
		switch bits := 8 * sizeOf(t); t {
		case tfpb.DataType_DT_FLOAT:
			x, err = parseFloat(string(plain), bits)
			out.Float32[i] = float32(x)
		case tfpb.DataType_DT_DOUBLE:
			out.Float64[i], err = parseFloat(string(plain), bits)
		default:
			n, err = strconv.ParseInt(string(plain), 10, bits)
			out.put(i, int(n))
		}
		if err != nil {
			return fmt.Errorf("%s is no number of %v", phrase.Name(string(s)), t)
		}
	}
	return nil
}

// parseFloat reads a number as TensorFlow does: with a sign of nan, without an exponent of a hexadecimal number, and
// without a _. One that is too large is infinite.
func parseFloat(s string, bits int) (float64, error) {
	x, err := strconv.ParseFloat(s, bits)
	plain := strings.TrimLeft(s, "+-")
	switch {
	case strings.Contains(s, "_"):
		err = strconv.ErrSyntax
	case errors.Is(err, strconv.ErrRange):
		err = nil
	case err == nil:
	case strings.EqualFold(plain, "nan") && len(s) == len("+nan"):
		x, err = math.NaN(), nil
	case len(plain) > 2 && strings.EqualFold(plain[:2], "0x"):
		x, err = strconv.ParseFloat(s+"p0", bits)
	}
	return x, err
}

// stringJoin joins the texts at each place. A scalar is at all places.
func stringJoin(c *call) error {
	var shape []int
	for _, t := range c.in {
		if len(t.Shape) > 0 && shape != nil && !slices.Equal(t.Shape, shape) {
			return fmt.Errorf("shapes are %v and %v, want equal ones or scalars", shape, t.Shape)
		}
		if len(t.Shape) > 0 {
			shape = t.Shape
		}
	}
	if err := c.make(0, tfpb.DataType_DT_STRING, shape...); err != nil {
		return err
	}
	a := c.arena()
	for i := range c.out[0].Bytes {
		start := len(a.bytes)
		for k, t := range c.in {
			if k > 0 {
				a.bytes = append(a.bytes, c.bound.(string)...)
			}
			a.bytes = append(a.bytes, t.Bytes[min(i, len(t.Bytes)-1)]...)
		}
		c.out[0].Bytes[i] = a.text(start)
	}
	return nil
}

// pieces calls f for each piece of s between separators, or between blanks if the separator is empty.
func pieces(s, separator []byte, f func(piece []byte)) {
	if len(separator) == 0 {
		for piece := range bytes.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(blanks, r) }) {
			f(piece)
		}
		return
	}
	for more := true; more; {
		var piece []byte
		piece, s, more = bytes.Cut(s, separator)
		f(piece)
	}
}

// stringSplit cuts texts into pieces, which are a sparse tensor of their places and values.
func stringSplit(c *call) error {
	if len(c.in[0].Shape) != 1 || len(c.in[1].Bytes) != 1 {
		return errors.New("want a vector of texts and a separator")
	}
	separator := c.in[1].Bytes[0]
	total, most := 0, 0
	for _, s := range c.in[0].Bytes {
		first := total
		pieces(s, separator, func([]byte) { total++ })
		most = max(most, total-first)
	}
	if err := c.makeSparse(tfpb.DataType_DT_STRING, total, len(c.in[0].Bytes), most); err != nil {
		return err
	}
	at := 0
	for i, s := range c.in[0].Bytes {
		first := at
		pieces(s, separator, func(piece []byte) {
			c.out[0].Int64[2*at], c.out[0].Int64[2*at+1] = int64(i), int64(at-first)
			c.out[1].Bytes[at] = piece
			at++
		})
	}
	return nil
}

// makeSparse makes the outputs of a sparse matrix: indices, n values, shape.
func (c *call) makeSparse(t tfpb.DataType, n, rows, columns int) error {
	err := errors.Join(c.make(0, tfpb.DataType_DT_INT64, n, 2), c.make(1, t, n), c.make(2, tfpb.DataType_DT_INT64, 2))
	if err == nil {
		c.out[2].Int64[0], c.out[2].Int64[1] = int64(rows), int64(columns)
	}
	return err
}

// ngrams are the attributes of StringNGrams.
type ngrams struct {
	separator string
	widths    []int64
}

func bindNGrams(n *node) (any, error) {
	if n.integer("pad_width", 0) != 0 || n.boolean("preserve_short_sequences", false) {
		return nil, errors.New("pads rows or keeps short ones: no model that was tried does so")
	}
	widths := n.integers("ngram_widths")
	if len(widths) > 0 && slices.Min(widths) < 1 {
		return nil, fmt.Errorf("ngram_widths are %v, want 1 or more", widths)
	}
	return &ngrams{n.text("separator", ""), widths}, nil
}

// stringNGrams joins texts of a row that follow each other. Rows are given and returned by their splits.
func stringNGrams(c *call) error {
	g, splits, data := c.bound.(*ngrams), c.in[1], c.in[0].Bytes
	if err := checkSplits(splits, len(data)); err != nil {
		return err
	}
	if err := c.make(1, splits.Type, splits.Shape...); err != nil {
		return err
	}
	rows, total := splits.length()-1, 0
	for i := range rows + 1 {
		c.out[1].put(i, total)
		for _, w := range g.widths {
			if i < rows {
				total += max(0, splits.integer(i+1)-splits.integer(i)-int(w)+1)
			}
		}
	}
	if err := c.make(0, tfpb.DataType_DT_STRING, total); err != nil {
		return err
	}
	a, at := c.arena(), 0
	for i := range rows {
		row := data[splits.integer(i):splits.integer(i+1)]
		for _, w := range g.widths {
			for first := 0; first+int(w) <= len(row); first++ {
				start := len(a.bytes)
				for k, text := range row[first:][:w] {
					if k > 0 {
						a.bytes = append(a.bytes, g.separator...)
					}
					a.bytes = append(a.bytes, text...)
				}
				c.out[0].Bytes[at] = a.text(start)
				at++
			}
		}
	}
	return nil
}
