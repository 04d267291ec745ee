package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dgryski/go-farm"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// blanks are the bytes that TensorFlow strips, and between which it splits.
const blanks = " \t\n\v\f\r"

// stringOps returns the operations of this file and of those on patterns.
func stringOps() []op {
	return append(patternOps(), []op{
		eachText("StringStrip", func(*node) (textFunc, error) {
			return func(_ *arena, s []byte) ([]byte, error) { return bytes.Trim(s, blanks), nil }, nil
		}),
		eachText("StringLower", lower),
		eachText("UnicodeTranscode", transcode),
		{name: "StringToHashBucketFast", kinds: "s", bind: positive("num_buckets"), shape: likeInput(tfpb.DataType_DT_INT64), run: hashBucket},
		{name: "StringToNumber", kinds: "s", types: numberTypes, run: stringToNumber},
		{name: "StringJoin", kinds: "s+", bind: func(n *node) (any, error) { return n.text("separator", ""), nil }, run: stringJoin},
		{name: "StringSplitV2", kinds: "ss", out: "indices+values+shape", bind: only("maxsplit", -1), run: stringSplit},
		{name: "StringNGrams", kinds: "si", out: "ngrams+ngrams_splits", bind: bindNGrams, run: stringNGrams},
		{name: "AsString", kinds: "T", types: []tfpb.DataType{tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64}, bind: only("width", -1), run: asString},
		{name: "SparseCross", kinds: "x+", out: "output_indices+output_values+output_shape", bind: bindCross, run: sparseCross},
	}...)
}

// textFunc makes a text of another one. The result may share memory with s, or be a text of the arena.
type textFunc func(a *arena, s []byte) ([]byte, error)

// eachText returns an operation that applies a function to each text of input 0.
func eachText(name string, bind func(n *node) (textFunc, error)) op {
	return op{
		name:  name,
		kinds: "s",
		bind:  func(n *node) (any, error) { return bind(n) },
		shape: likeInput(tfpb.DataType_DT_STRING),
		run:   func(c *call) error { return c.eachText(c.bound.(textFunc)) },
	}
}

// eachText sets output 0 to f of each text of input 0.
func (c *call) eachText(f textFunc) error {
	a, out := c.arena(), c.out[0].Bytes
	for i, s := range c.in[0].Bytes {
		text, err := f(a, s)
		if err != nil {
			return err
		}
		out[i] = text
	}
	return nil
}

// positive binds an integer attribute that is above 0.
func positive(name string) func(n *node) (any, error) {
	return func(n *node) (any, error) {
		v := n.integer(name, 0)
		if v < 1 {
			return nil, fmt.Errorf("%s is %d, want 1 or more", name, v)
		}
		return v, nil
	}
}

// only accepts one value of an integer attribute.
func only(name string, want int) func(n *node) (any, error) {
	return func(n *node) (any, error) {
		if v := n.integer(name, want); v != want {
			return nil, fmt.Errorf("%s is %d, want %d: no other is known here", name, v, want)
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

// hashBucket sets the number of the bucket of each text.
func hashBucket(c *call) error {
	buckets := uint64(c.bound.(int))
	for i, s := range c.in[0].Bytes {
		c.out[0].Int64[i] = int64(farm.Fingerprint64(s) % buckets)
	}
	return nil
}

var numberTypes = []tfpb.DataType{tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT32, tfpb.DataType_DT_INT64}

// stringToNumber reads numbers. One that is too large is infinite if it may be.
func stringToNumber(c *call) error {
	t := c.node.typ("out_type")
	if t == tfpb.DataType_DT_INVALID {
		t = tfpb.DataType_DT_FLOAT
	}
	if err := c.make(0, t, c.in[0].Shape...); err != nil {
		return err
	}
	for i, s := range c.in[0].Bytes {
		plain := bytes.Trim(s, blanks)
		var ok bool
		switch t {
		case tfpb.DataType_DT_FLOAT:
			var v float64
			v, ok = parseFloat(plain, 32)
			c.out[0].Float32[i] = float32(v)
		case tfpb.DataType_DT_DOUBLE:
			c.out[0].Float64[i], ok = parseFloat(plain, 64)
		case tfpb.DataType_DT_INT32:
			v, err := strconv.ParseInt(string(plain), 10, 32)
			c.out[0].Int32[i], ok = int32(v), err == nil
		default:
			v, err := strconv.ParseInt(string(plain), 10, 64)
			c.out[0].Int64[i], ok = v, err == nil
		}
		if !ok {
			return fmt.Errorf("%s is no number", phrase.Name(string(s)))
		}
	}
	return nil
}

// stringJoin joins the texts at each place. A scalar is at all places.
func stringJoin(c *call) error {
	var shape []int
	for _, t := range c.in {
		switch {
		case len(t.Shape) == 0:
		case shape == nil:
			shape = t.Shape
		case !slices.Equal(t.Shape, shape):
			return fmt.Errorf("shapes are %v and %v, want equal ones or scalars", shape, t.Shape)
		}
	}
	if err := c.make(0, tfpb.DataType_DT_STRING, shape...); err != nil {
		return err
	}
	a, separator := c.arena(), c.bound.(string)
	for i := range c.out[0].Bytes {
		start := len(a.bytes)
		for k, t := range c.in {
			if k > 0 {
				a.bytes = append(a.bytes, separator...)
			}
			a.bytes = append(a.bytes, t.Bytes[min(i, len(t.Bytes)-1)]...)
		}
		c.out[0].Bytes[i] = a.text(start)
	}
	return nil
}

// nextPiece cuts the text before a separator, or before blanks if it is empty, off s. It returns nil for what is
// left behind the last one.
func nextPiece(s, separator []byte) (piece, rest []byte, ok bool) {
	if len(separator) > 0 {
		piece, rest, found := bytes.Cut(s, separator)
		if !found {
			rest = nil
		}
		return piece, rest, s != nil
	}
	if s = bytes.TrimLeft(s, blanks); len(s) == 0 {
		return nil, nil, false
	}
	if i := bytes.IndexAny(s, blanks); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, nil, true
}

// stringSplit cuts texts into pieces, which are a sparse tensor of their places and values.
func stringSplit(c *call) error {
	if len(c.in[0].Shape) != 1 || len(c.in[1].Shape) != 0 {
		return fmt.Errorf("texts of shape %v and separators of shape %v, want a vector and a scalar", c.in[0].Shape, c.in[1].Shape)
	}
	separator := c.in[1].Bytes[0]
	total, most := 0, 0
	for _, s := range c.in[0].Bytes {
		n := 0
		for _, rest, ok := nextPiece(present(s), separator); ok; _, rest, ok = nextPiece(rest, separator) {
			n++
		}
		total, most = total+n, max(most, n)
	}
	if err := errors.Join(c.make(0, tfpb.DataType_DT_INT64, total, 2), c.make(1, tfpb.DataType_DT_STRING, total), c.make(2, tfpb.DataType_DT_INT64, 2)); err != nil {
		return err
	}
	at := 0
	for i, s := range c.in[0].Bytes {
		first := at
		for piece, rest, ok := nextPiece(present(s), separator); ok; piece, rest, ok = nextPiece(rest, separator) {
			c.out[0].Int64[2*at], c.out[0].Int64[2*at+1] = int64(i), int64(at-first)
			c.out[1].Bytes[at] = piece
			at++
		}
	}
	c.out[2].Int64[0], c.out[2].Int64[1] = int64(len(c.in[0].Bytes)), int64(most)
	return nil
}

// present returns s, which is not nil if it is empty.
func present(s []byte) []byte {
	if s == nil {
		return []byte{}
	}
	return s
}

// asString writes integers.
func asString(c *call) error {
	a := c.arena()
	if err := c.make(0, tfpb.DataType_DT_STRING, c.in[0].Shape...); err != nil {
		return err
	}
	for i := range c.out[0].Bytes {
		start := len(a.bytes)
		if c.in[0].Type == tfpb.DataType_DT_INT32 {
			a.bytes = strconv.AppendInt(a.bytes, int64(c.in[0].Int32[i]), 10)
		} else {
			a.bytes = strconv.AppendInt(a.bytes, c.in[0].Int64[i], 10)
		}
		c.out[0].Bytes[i] = a.text(start)
	}
	return nil
}
