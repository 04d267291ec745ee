package column

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// JSON returns Columns as JSON, for AdoptJSON.
func (p *Plan) JSON() []byte { return encoded(p.Columns()) }

// AdoptJSON adopts the columns that JSON encoded. See Adopt.
func (p *Plan) AdoptJSON(text []byte) error {
	var learnt graph.Columns
	if err := json.Unmarshal(text, &learnt); err != nil {
		return exitcode.With(exitcode.BadData, fmt.Errorf("what was learnt of columns: %w", err))
	}
	return p.Adopt(learnt)
}

// Digest is short, and differs where plans make other inputs of a record, or learn otherwise.
func (p *Plan) Digest() string {
	var learns []any
	for _, d := range p.dense {
		learns = append(learns, d.standardize)
		if d.meanDefault {
			learns = append(learns, "mean")
		}
	}
	for _, b := range p.bags {
		learns = append(learns, b.minCount)
	}
	if p.scale != nil {
		learns = append(learns, p.scale.standardize)
	}
	return digestOf([]any{unwritten(p), p.Inputs, p.Order, p.Label, p.Weight, p.Keys, learns})
}

// LearnedDigest returns a short digest of the columns and of their statistics.
func (p *Plan) LearnedDigest() string { return digestOf(unwritten(p)) }

// unwritten returns Columns without what no input of a model depends on.
func unwritten(p *Plan) graph.Columns {
	c := p.Columns()
	for i := range c.Bags {
		c.Bags[i].Written = nil
	}
	return c
}

// digestOf returns the first 8 bytes of the SHA-256 of v in JSON, in hex.
func digestOf(v any) string {
	sum := sha256.Sum256(encoded(v))
	return hex.EncodeToString(sum[:8])
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("column: a plan cannot be encoded")
	}
	return text
}
