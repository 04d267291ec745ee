package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
)

// stateOps returns the operations of this file.
func stateOps() []op {
	return []op{
		{name: "Const", in: "0", run: runConst},
		{name: "NoOp", in: "0", out: "0"},
		{name: "Placeholder", in: "0", state: true, run: runPlaceholder},
		{name: "PlaceholderWithDefault", in: "1", run: runIdentity},
		{name: "Identity", in: "1", run: runIdentity},
		{name: "StopGradient", in: "1", run: runIdentity},
		{name: "IdentityN", in: "T", out: "T", run: runIdentity},
		{name: "VarHandleOp", in: "0", run: runHandle},
		{name: "VariableV2", in: "0", run: runVariable, state: true, reads: true},
		{name: "ReadVariableOp", in: "1", run: runRead, state: true, reads: true},
		{name: "AssignVariableOp", in: "2", out: "0", run: runAssign, state: true, assigns: true},
		{name: "Assign", in: "2", run: runAssign, state: true, assigns: true},
		{name: "AssignAdd", in: "2", run: runAssignAdd, state: true, assigns: true},
		{name: "RestoreV2", in: "3", out: "dtypes", run: runRestore, state: true},
		{name: "Assert", in: "1+T", out: "0", run: runAssert, state: true},
	}
}

func runConst(c *call) error {
	p := c.node.attrs["value"].GetTensor()
	if p == nil {
		return errors.New("attribute value is missing")
	}
	t, err := c.frame.model.constant(p)
	if err != nil {
		return err
	}
	c.share(0, t, t.Shape...)
	return nil
}

func runPlaceholder(*call) error { return errors.New("the signature does not have this input") }

// runIdentity hands its inputs on. A variable of TensorFlow 1 is read at this moment.
func runIdentity(c *call) error {
	for i, t := range c.in {
		if v, ok := t.resource.(*variable); ok && t.Type != tfpb.DataType_DT_RESOURCE {
			value, err := v.get()
			if err != nil {
				return err
			}
			t = value
		}
		c.share(i, t, t.Shape...)
	}
	return nil
}

func runHandle(c *call) error {
	*c.out[0] = Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: c.frame.model.variable(c.node)}
	return nil
}

// runVariable makes a tensor that is the variable and its value, if it has one.
func runVariable(c *call) error {
	v := c.frame.model.variable(c.node)
	t, err := v.get()
	if err != nil {
		t = &Tensor{Type: v.typ}
	}
	c.share(0, t, t.Shape...)
	c.out[0].resource = v
	return nil
}

func runRead(c *call) error {
	t, err := c.variable(0)
	if err != nil {
		return err
	}
	c.share(0, t, t.Shape...)
	return nil
}

// runAssign sets a variable. Assign has an output, AssignVariableOp has none.
func runAssign(c *call) error {
	return c.assign(func(*Tensor) (*Tensor, error) {
		if c.frame.keeps {
			t := *c.in[1]
			return &t, nil
		}
		return c.in[1].clone(), nil
	})
}

func runAssignAdd(c *call) error {
	return c.assign(func(old *Tensor) (*Tensor, error) {
		if old == nil {
			return nil, errors.New("the variable has no value")
		}
		sum := old.clone()
		return sum, sum.add(c.in[1])
	})
}

// assign sets the variable of input 0 to what change makes of its value.
func (c *call) assign(change func(old *Tensor) (*Tensor, error)) error {
	v, err := c.handle(0)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	t, err := change(v.value)
	if err != nil {
		return err
	}
	if err := v.set(t); err != nil {
		return err
	}
	if len(c.out) > 0 {
		c.share(0, t, t.Shape...)
		c.out[0].resource = v
	}
	return nil
}

// add adds a tensor of the same type and shape, or a scalar.
func (t *Tensor) add(other *Tensor) error {
	if t.Type != other.Type || !slices.Equal(t.Shape, other.Shape) {
		return fmt.Errorf("%v %v for a variable of %v %v", other.Type, other.Shape, t.Type, t.Shape)
	}
	addTo(t.Float32, other.Float32)
	addTo(t.Float64, other.Float64)
	addTo(t.Int32, other.Int32)
	addTo(t.Int64, other.Int64)
	return nil
}

func addTo[T float32 | float64 | int32 | int64](dst, src []T) {
	for i := range dst {
		dst[i] += src[i]
	}
}

// runRestore hands out the tensors of the files, mapped.
func runRestore(c *call) error {
	m := c.frame.model
	prefix, names, slicing := c.in[0].Bytes, c.in[1].Bytes, c.in[2].Bytes
	if m.variables == nil || len(prefix) != 1 || string(prefix[0]) != m.prefix() {
		return errors.New("restores other files than the variables of the model")
	}
	types := c.node.attrs["dtypes"].GetList().GetType()
	if len(names) != len(types) || len(slicing) != len(types) {
		return fmt.Errorf("%d names and %d slices, want %d", len(names), len(slicing), len(types))
	}
	for i, name := range names {
		if len(slicing[i]) > 0 {
			return fmt.Errorf("%s: slices of tensors are not known here", name)
		}
		t, err := m.restored(string(name))
		if err != nil {
			return err
		}
		if t.Type != types[i] {
			return fmt.Errorf("tensor %s has type %v, want %v", name, t.Type, types[i])
		}
		*c.out[i] = *t
	}
	return nil
}

// restored returns a tensor of the files.
func (m *Model) restored(name string) (*Tensor, error) {
	b, err := m.variables.Map(name)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Type: tfpb.DataType(b.DType), Shape: make([]int, len(b.Shape))}
	for i, d := range b.Shape {
		t.Shape[i] = int(d)
	}
	n := Elements(t.Shape)
	switch b.DType {
	case bundle.DTFloat32:
		t.Float32, err = view[float32](b.Data, n)
	case bundle.DTFloat64:
		t.Float64, err = view[float64](b.Data, n)
	case bundle.DTInt32:
		t.Int32, err = view[int32](b.Data, n)
	case bundle.DTInt64:
		t.Int64, err = view[int64](b.Data, n)
	case bundle.DTBool:
		t.Bool = booleans(b.Data)
	case bundle.DTString:
		t.Bytes = make([][]byte, n)
		for i, s := range b.Strings {
			t.Bytes[i] = []byte(s)
		}
	default:
		err = fmt.Errorf("type %v is not known here", b.DType)
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	m.Mapped += int64(len(b.Data))
	return t, nil
}

func runAssert(c *call) error {
	if len(c.in[0].Bool) == 1 && !c.in[0].Bool[0] {
		return c.asserted()
	}
	return nil
}

// asserted returns the error of an assertion that does not hold, with what the graph says about it.
func (c *call) asserted() error {
	for _, t := range c.in[1:] {
		if len(t.Bytes) > 0 {
			return fmt.Errorf("an assertion does not hold: %.256s", t.Bytes[0])
		}
	}
	return errors.New("an assertion does not hold")
}
