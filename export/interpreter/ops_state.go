package interpreter

import (
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
		{name: "Placeholder", state: true, run: func(*call) { refuse("the signature does not have this input") }},
		{name: "PlaceholderWithDefault", kinds: "x", run: runIdentity},
		{name: "Identity", kinds: "x", run: runIdentity},
		{name: "StopGradient", kinds: "x", run: runIdentity},
		{name: "IdentityN", out: "output*T", run: runIdentity},
		{name: "VarHandleOp", run: runHandle},
		{name: "VariableV2", run: runVariable, state: true, reads: true},
		{name: "ReadVariableOp", kinds: "x", run: runRead, state: true, reads: true},
		{name: "AssignVariableOp", kinds: "xx", out: "0", run: runAssign, state: true, assigns: true},
		{name: "Assign", kinds: "xx", run: runAssign, state: true, assigns: true},
		{name: "AssignAdd", kinds: "xx", run: runAssign, state: true, assigns: true},
		{name: "RestoreV2", kinds: "sss", out: "tensors*dtypes", run: runRestore, state: true},
		{name: "Assert", kinds: "bx+", out: "0", run: runAssert, state: true},
	}
}

func runConst(c *call) {
	p := c.node.attrs["value"].GetTensor()
	if p == nil {
		refuse("attribute value is missing")
	}
	t := c.frame.store.constant(p)
	c.share(0, t, t.Shape...)
}

// runIdentity hands its inputs on. A variable of TensorFlow 1 is read at this moment.
func runIdentity(c *call) {
	for i, t := range c.in {
		if v, ok := t.resource.(*variable); ok && t.Type != tfpb.DataType_DT_RESOURCE {
			t = v.get()
		}
		c.share(i, t, t.Shape...)
	}
}

func runHandle(c *call) {
	*c.out[0] = Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: c.frame.store.variable(c.node)}
}

// runVariable makes a tensor that is the variable and its value. It may have none yet where something can change it.
func runVariable(c *call) {
	v := c.frame.store.variable(c.node)
	t := v.now()
	if t == nil && c.frame.store.changing {
		t = &Tensor{Type: v.typ}
	}
	if t == nil {
		t = v.get()
	}
	c.share(0, t, t.Shape...)
	c.out[0].resource = v
}

func runRead(c *call) {
	t := c.handle(0).get()
	c.share(0, t, t.Shape...)
}

// runAssign sets the variable of input 0 to input 1, or adds it. Assign and AssignAdd have an output, AssignVariableOp has
// none.
func runAssign(c *call) {
	v, t := c.handle(0), c.in[1]
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case c.node.op.name == "AssignAdd":
		t = v.sum(t)
	case c.frame.once:
		t = &Tensor{}
		*t = *c.in[1]
	default:
		t = t.clone()
	}
	v.set(t)
	if len(c.out) > 0 {
		c.share(0, t, t.Shape...)
		c.out[0].resource = v
	}
}

// runRestore hands out the tensors of the files, mapped.
func runRestore(c *call) {
	s := c.frame.store
	prefix, names, slicing := c.in[0].Bytes, c.in[1].Bytes, c.in[2].Bytes
	if s.variables == nil || len(prefix) != 1 || string(prefix[0]) != s.prefix {
		refuse("restores other files than the variables of the model")
	}
	types := c.node.attrs["dtypes"].GetList().GetType()
	if len(names) != len(types) || len(slicing) != len(types) {
		refuse("%d names and %d slices, want %d", len(names), len(slicing), len(types))
	}
	for i, name := range names {
		if len(slicing[i]) > 0 {
			refuse("%s: slices of tensors are not known here", phrase.Name(string(name)))
		}
		t := s.restored(string(name))
		if t.Type != types[i] {
			refuse("tensor %s has type %v, want %v", phrase.Name(string(name)), t.Type, types[i])
		}
		*c.out[i] = *t
	}
}

// restored returns a tensor of the files.
func (s *store) restored(name string) *Tensor {
	b := sure(s.variables.Map(name))
	p := &tfpb.TensorProto{Dtype: tfpb.DataType(b.DType), TensorShape: &tfpb.TensorShapeProto{}, TensorContent: b.Data}
	for _, d := range b.Shape {
		p.TensorShape.Dim = append(p.TensorShape.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
	}
	for _, text := range b.Strings {
		p.StringVal = append(p.StringVal, []byte(text))
	}
	t, err := FromProto(p, math.MaxInt)
	if err != nil {
		refuse("tensor %s: %w", phrase.Name(name), err)
	}
	s.mapped += len(b.Data)
	return t
}

// runAssert fails with what the graph says about an assertion that does not hold.
func runAssert(c *call) {
	c.want(len(c.in[0].Shape) == 0, "a scalar condition")
	if c.in[0].Bool[0] {
		return
	}
	says := ""
	if i := slices.IndexFunc(c.in, func(t *Tensor) bool { return len(t.Bytes) > 0 }); i >= 0 {
		says = ": " + phrase.Name(string(c.in[i].Bytes[0]))
	}
	refuse("an assertion does not hold%s", says)
}
