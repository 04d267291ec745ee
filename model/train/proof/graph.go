package proof

import (
	"fmt"
	"slices"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

// program is a signature of the graph, ready to run.
type program struct {
	*interpreter.Program
	signature string
	examples  string // key of the input that takes tf.Examples, "" for none
}

// compile returns the programs of all signatures of a model, and the types of the features that they parse.
func compile(m *interpreter.Model) (all []program, features map[string]tfpb.DataType, err error) {
	features = map[string]tfpb.DataType{}
	for _, s := range m.Signatures {
		p, err := m.Compile(s.Name, nil)
		if err != nil {
			return nil, nil, exitcode.With(exitcode.Internal, fmt.Errorf("%s: %w", s.Name, err))
		}
		made := program{Program: p, signature: s.Name}
		for _, in := range p.Inputs {
			if s.Features != nil && in.Type == tfpb.DataType_DT_STRING {
				made.examples = in.Key
			}
		}
		for _, f := range s.Features {
			features[f.Name] = f.Type
		}
		all = append(all, made)
	}
	return all, features, nil
}

// inputs returns the inputs for the records of a block.
func (p *program) inputs(b *block) ([]*interpreter.Tensor, error) {
	all := make([]*interpreter.Tensor, len(p.Inputs))
	for i, port := range p.Inputs {
		t, err := b.input(port, port.Key == p.examples)
		if err != nil {
			return nil, err
		}
		all[i] = t
	}
	return all, nil
}

// maxNumbers bounds the dense features of a run: the layers behind them may have many times as many.
const maxNumbers = 1 << 22

// answer runs the program on the records of a block, some at a time. The outputs are by key.
func (p *program) answer(b *block) (map[string]*interpreter.Tensor, error) {
	all, step := map[string]*interpreter.Tensor{}, max(1, maxNumbers/max(1, b.rows.batch.X.Dense.Cols))
	for first := b.rows.first; first < b.rows.last; first += step {
		part := b.part(first, min(first+step, b.rows.last))
		made, err := p.answerPart(&part)
		if err != nil {
			return nil, err
		}
		for key, t := range made {
			if was := all[key]; was != nil && len(was.Shape) > 0 && len(t.Shape) > 0 {
				was.Append(t)
				continue
			}
			all[key] = t
		}
	}
	return all, nil
}

// answerPart runs the program on the records of a block at once.
func (p *program) answerPart(b *block) (map[string]*interpreter.Tensor, error) {
	inputs, err := p.inputs(b)
	if err != nil {
		return nil, err
	}
	outputs, err := p.Run(inputs)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]*interpreter.Tensor, len(outputs))
	for i, t := range outputs {
		byKey[p.Outputs[i].Key] = t
	}
	return byKey, nil
}

// block is records in the forms in which signatures take them.
type block struct {
	examples [][]byte
	rows     rows
	keys     []string // names of the keys
}

// part returns the records [first, last) of the batch, which are in the block.
func (b *block) part(first, last int) block {
	part, from := *b, b.rows.first
	part.rows.first, part.rows.last, part.examples = first, last, b.examples[first-from:last-from]
	return part
}

// input returns the tensor of an input.
func (b *block) input(port interpreter.Port, isExamples bool) (*interpreter.Tensor, error) {
	n := b.rows.last - b.rows.first
	if isExamples {
		return &interpreter.Tensor{Type: port.Type, Shape: []int{n}, Bytes: b.examples}, nil
	}
	if make, ok := feeds[port.Key]; ok {
		return make(&b.rows), nil
	}
	if at := slices.Index(b.keys, port.Key); at >= 0 {
		return b.rows.key(at, len(b.keys)), nil
	}
	return nil, fmt.Errorf("it takes %s, which no model of ringtrain does", port.Key)
}

// feeds has the inputs that signatures take directly.
var feeds = map[string]func(*rows) *interpreter.Tensor{
	"x": (*rows).numbers, "images": (*rows).numbers,
	"indices": (*rows).indices, "ids": (*rows).ids, "values": (*rows).values, "fields": (*rows).fields, "shape": (*rows).shape,
}
