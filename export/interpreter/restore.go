package interpreter

import (
	"errors"
	"fmt"
	"math"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// runRestore hands out the tensors of the files, mapped.
func runRestore(c *call) error {
	store := c.frame.store
	prefix, names, slicing := c.in[0].Bytes, c.in[1].Bytes, c.in[2].Bytes
	if store.variables == nil || len(prefix) != 1 || string(prefix[0]) != store.prefix {
		return errors.New("restores other files than the variables of the model")
	}
	types := c.node.attrs["dtypes"].GetList().GetType()
	if len(names) != len(types) || len(slicing) != len(types) {
		return fmt.Errorf("%d names and %d slices, want %d", len(names), len(slicing), len(types))
	}
	for i, name := range names {
		if len(slicing[i]) > 0 {
			return fmt.Errorf("%s: slices of tensors are not known here", phrase.Name(string(name)))
		}
		t, err := store.restored(string(name))
		if err != nil {
			return err
		}
		if t.Type != types[i] {
			return fmt.Errorf("tensor %s has type %v, want %v", phrase.Name(string(name)), t.Type, types[i])
		}
		*c.out[i] = *t
	}
	return nil
}

// restored returns a tensor of the files.
func (s *store) restored(name string) (*Tensor, error) {
	b, err := s.variables.Map(name)
	if err != nil {
		return nil, err
	}
	p := &tfpb.TensorProto{Dtype: tfpb.DataType(b.DType), TensorShape: &tfpb.TensorShapeProto{}, TensorContent: b.Data}
	for _, d := range b.Shape {
		p.TensorShape.Dim = append(p.TensorShape.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
	}
	for _, text := range b.Strings {
		p.StringVal = append(p.StringVal, []byte(text))
	}
	t, err := FromProto(p, math.MaxInt)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", phrase.Name(name), err)
	}
	s.mapped += len(b.Data)
	return t, nil
}
