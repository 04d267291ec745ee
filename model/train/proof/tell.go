package proof

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// maxTried bounds the texts that are tried for a column.
const maxTried = 64

// tell gives the column whose ids a hash makes the text by which the model's scores change most: of an id that no record had
// a model may know nothing, and then a graph with another hash gives the same answer to the request.
func (p *Prover) tell(cells []column.Cell, b *graph.BagColumn) {
	if !b.Hashes() {
		return
	}
	name := b.Name
	if b.Kind == graph.Cross {
		name = b.Of[0]
	}
	at := slices.Index(p.of.Plan.Inputs, name)
	tried := [][]column.Cell{without(cells, at)}
	var batch input.Batch
	if p.examples.runner.Append(&batch, tried[0]) != nil {
		return
	}
	for _, text := range p.texts(name, isNumber(cells[at].Text)) {
		one, before := without(cells, at), batch.Mark()
		one[at].Text = []byte(text)
		if p.examples.runner.Append(&batch, one) != nil {
			batch.Restore(before)
			continue
		}
		tried = append(tried, one)
	}
	batch.X.Bags.Index()
	scores, farthest := p.of.Model.Predict(&batch.X), 0.0
	for i := 1; i < len(tried); i++ {
		far := 0.0
		for k, s := range scores.Row(i) {
			far += math.Abs(float64(s - scores.Row(0)[k]))
		}
		if far > farthest {
			farthest = far
			copy(cells, tried[i])
		}
	}
}

// texts returns texts that are tried for a column: those of its vocabulary, or invented ones.
func (p *Prover) texts(name string, numbers bool) (all []string) {
	for _, b := range p.of.Model.Graph().Columns.Bags {
		if b.Name == name && b.Kind == graph.Vocabulary {
			return b.Vocabulary[:min(len(b.Vocabulary), maxTried)]
		}
	}
	form := "text-%d"
	if numbers {
		form = "%d"
	}
	for i := range maxTried {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}

// isNumber reports whether a text is a plain number.
func isNumber(text []byte) bool {
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}
