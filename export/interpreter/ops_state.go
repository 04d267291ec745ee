package interpreter

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// stateOps returns the operations of this file.
func stateOps() []op {
	return []op{
		{name: "Const", run: runConst},
		{name: "NoOp", out: "0"},
		{name: "Placeholder", state: true, run: runPlaceholder},
		{name: "PlaceholderWithDefault", kinds: "x", run: runIdentity},
		{name: "Identity", kinds: "x", run: runIdentity},
		{name: "StopGradient", kinds: "x", run: runIdentity},
		{name: "IdentityN", out: "output*T", run: runIdentity},
		{name: "VarHandleOp", run: runHandle},
		{name: "VariableV2", run: runVariable, state: true, reads: true},
		{name: "ReadVariableOp", kinds: "x", run: runRead, state: true, reads: true},
		{name: "AssignVariableOp", kinds: "xx", out: "0", run: runAssign, state: true, assigns: true},
		{name: "Assign", kinds: "xx", run: runAssign, state: true, assigns: true},
		{name: "AssignAdd", kinds: "xx", run: runAssignAdd, state: true, assigns: true},
		{name: "RestoreV2", kinds: "sss", out: "tensors*dtypes", run: runRestore, state: true},
		{name: "Assert", kinds: "bx+", out: "0", run: runAssert, state: true},
	}
}

func runConst(c *call) error {
	p := c.node.attrs["value"].GetTensor()
	if p == nil {
		return errors.New("attribute value is missing")
	}
	t, err := c.run.model.constant(p)
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
	*c.out[0] = Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: c.run.model.variable(c.node)}
	return nil
}

// runVariable makes a tensor that is the variable and its value. It may have none yet where something can change it.
func runVariable(c *call) error {
	v := c.run.model.variable(c.node)
	t, err := v.get()
	if err != nil && c.run.model.changing {
		t, err = &Tensor{Type: v.typ}, nil
	}
	if err != nil {
		return err
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
		if c.run.once {
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

// add adds a tensor of the same type and shape.
func (t *Tensor) add(other *Tensor) error {
	if t.Type != other.Type || !slices.Equal(t.Shape, other.Shape) {
		return fmt.Errorf("%v %v for a variable of %v %v", other.Type, other.Shape, t.Type, t.Shape)
	}
	t.addRows(other, t.length(), []int{0})
	return nil
}

// runRestore hands out the tensors of the files, mapped.
func runRestore(c *call) error {
	m := c.run.model
	prefix, names, slicing := c.in[0].Bytes, c.in[1].Bytes, c.in[2].Bytes
	if m.variables == nil || len(prefix) != 1 || string(prefix[0]) != m.prefix {
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
		t, err := m.restored(string(name))
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
func (m *Model) restored(name string) (*Tensor, error) {
	b, err := m.variables.Map(name)
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
	m.Mapped += int64(len(b.Data))
	return t, nil
}

// runAssert fails with what the graph says about an assertion that does not hold.
func runAssert(c *call) error {
	if len(c.in[0].Shape) > 0 {
		return c.misfit("a scalar condition")
	}
	if c.in[0].Bool[0] {
		return nil
	}
	i := slices.IndexFunc(c.in, func(t *Tensor) bool { return len(t.Bytes) > 0 })
	if i < 0 {
		return errors.New("an assertion does not hold")
	}
	return fmt.Errorf("an assertion does not hold: %s", phrase.Name(string(c.in[i].Bytes[0])))
}
