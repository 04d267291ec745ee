package column

import (
	"bytes"
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
