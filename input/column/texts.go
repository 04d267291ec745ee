package column

import (
	"bytes"
	"slices"
	"strconv"

	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// texts returns the texts of a cell that each make an id, none where there is nothing. They are valid
// until the next call.
func (r *Runner) texts(rule *bagRule, cells []Cell) ([][]byte, error) {
	r.pieces, r.digits = r.pieces[:0], r.digits[:0]
	c := &cells[rule.inputs[0]]
	if !rule.List || len(c.Texts)+len(c.IDs) <= 1 {
		text, err := r.text(&cells[rule.inputs[0]], rule.inputs[0])
		if rule.Kind == graph.Words {
			r.words(rule, text)
		} else {
			r.cut(rule, text)
		}
		return r.pieces, err
	}
	for _, text := range c.Texts {
		r.element(rule, text)
	}
	for _, id := range c.IDs {
		from := len(r.digits)
		r.digits = strconv.AppendInt(r.digits, id, 10)
		r.element(rule, r.digits[from:])
	}
	return r.pieces, nil
}

// element appends the texts of one of several texts, none if it is missing.
func (r *Runner) element(rule *bagRule, text []byte) {
	if text = r.trimmed(text); r.plan.textWords.find(text) < 0 {
		r.cut(rule, text)
	}
}

// cut appends the texts of one text to r.pieces: those between separators, if there is one, without those
// that are missing.
func (r *Runner) cut(rule *bagRule, text []byte) {
	if len(rule.separator) == 0 {
		if len(text) > 0 {
			r.pieces = append(r.pieces, text)
		}
		return
	}
	for len(text) > 0 {
		piece, rest, _ := bytes.Cut(text, rule.separator)
		if piece = Trimmed(piece); len(piece) > 0 && r.plan.textWords.find(piece) < 0 {
			r.pieces = append(r.pieces, piece)
		}
		text = rest
	}
}

// vocabulary adds the places of a cell's texts in the vocabulary of bag i.
func (r *Runner) vocabulary(bags *tensor.Bags, i int, cells []Cell) error {
	rule := &r.plan.bags[i]
	texts, err := r.texts(rule, cells)
	if err != nil {
		return err
	}
	unknown := 0
	for _, text := range texts {
		place, err := r.place(i, text)
		if err != nil {
			return err
		}
		if r.known[i] != nil && place == uint32(len(rule.Vocabulary)) {
			unknown++
		}
		bags.Add(rule.First+place, 1)
	}
	if unknown > 0 && unknown == len(texts) {
		r.unknown = append(r.unknown, i)
	}
	return nil
}

// Divides reports whether what reads an input makes several texts of one: words, or those of a list.
func (p *Plan) Divides(input int) bool {
	return slices.ContainsFunc(p.bags, func(b bagRule) bool {
		return b.inputs[0] == input && (b.Kind == graph.Words || b.Separator != "")
	})
}

// TakeLists says that the records are tf.Examples, which have lists: a column that is categorical and
// nothing else is a bag of texts.
func (p *Plan) TakeLists() {
	other := make([]bool, len(p.Inputs))
	for _, at := range append([]int{p.Label, p.Weight}, p.Keys...) {
		if at >= 0 {
			other[at] = true
		}
	}
	for _, d := range p.dense {
		other[d.input] = true
	}
	for _, b := range p.bags {
		if b.Kind != graph.Hash && b.Kind != graph.Vocabulary {
			for _, at := range b.inputs {
				other[at] = true
			}
		}
		if b.Kind == graph.IDs && b.values >= 0 {
			other[b.values] = true
		}
	}
	for i := range p.bags {
		if b := &p.bags[i]; !other[b.inputs[0]] {
			b.List = true
		}
	}
}
