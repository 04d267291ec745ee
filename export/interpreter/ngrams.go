package interpreter

import (
	"errors"
	"fmt"

	"ringtrain/export/tfpb"
)

// ngrams are the attributes of StringNGrams.
type ngrams struct {
	separator, left, right string
	widths                 []int64
	pad                    int // -1: as many as the width takes
	keepShort              bool
}

func bindNGrams(n *node) (any, error) {
	g := &ngrams{
		separator: n.text("separator", ""), left: n.text("left_pad", ""), right: n.text("right_pad", ""), widths: n.integers("ngram_widths"),
		pad: n.integer("pad_width", 0), keepShort: n.boolean("preserve_short_sequences", false),
	}
	for _, w := range g.widths {
		if w < 1 || w > maxBytes {
			return nil, fmt.Errorf("ngram_widths has %d, want 1 or more", w)
		}
	}
	return g, nil
}

// padding returns the pads on each side of a row, for n-grams of a width.
func (n *ngrams) padding(width int) int {
	if n.pad < 0 {
		return width - 1
	}
	return min(n.pad, width-1)
}

// each calls f for each n-gram of a row of so many texts: its width and its first text, which is below 0 where pads come first.
func (n *ngrams) each(texts int, f func(first, width int)) {
	any := false
	for _, w := range n.widths {
		pad := n.padding(int(w))
		for first := -pad; first+int(w) <= texts+pad; first++ {
			f(first, int(w))
			any = true
		}
	}
	if !any && n.keepShort && texts > 0 {
		pad := max(n.pad, 0)
		f(-pad, texts+2*pad)
	}
}

// stringNGrams joins texts of a row that follow each other. Rows are given and returned by their splits.
func stringNGrams(c *call) error {
	g, data := c.bound.(*ngrams), c.in[0].Bytes
	splits := c.in[1]
	if err := checkSplits(splits, len(data)); err != nil {
		return err
	}
	n := Elements(splits.Shape)
	row := func(i int) [][]byte { return data[splits.integer(i):splits.integer(i+1)] }
	total := 0
	for i := range n - 1 {
		g.each(len(row(i)), func(int, int) { total++ })
	}
	if err := errors.Join(c.make(0, tfpb.DataType_DT_STRING, total), c.make(1, splits.Type, n)); err != nil {
		return err
	}
	a, at := c.arena(), 0
	if n > 0 {
		c.out[1].put(0, 0)
	}
	for i := range n - 1 {
		texts := row(i)
		g.each(len(texts), func(first, width int) {
			c.out[0].Bytes[at] = a.gram(g, texts, first, width)
			at++
		})
		c.out[1].put(i+1, at)
	}
	return nil
}

// gram appends an n-gram to the arena.
func (a *arena) gram(g *ngrams, row [][]byte, first, width int) []byte {
	start := len(a.bytes)
	for i := first; i < first+width; i++ {
		if i > first {
			a.bytes = append(a.bytes, g.separator...)
		}
		switch {
		case i < 0:
			a.bytes = append(a.bytes, g.left...)
		case i < len(row):
			a.bytes = append(a.bytes, row[i]...)
		default:
			a.bytes = append(a.bytes, g.right...)
		}
	}
	return a.text(start)
}
