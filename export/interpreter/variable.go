package interpreter

import (
	"cmp"
	"slices"
	"sync"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// variable is a value that operations may change. A value is never changed in place, so a run that
// has read it may go on with it.
type variable struct {
	name  string
	typ   tfpb.DataType
	shape []int // -1 for any size; nil of any rank

	mu    sync.Mutex
	value *Tensor // nil: none yet
}

// variable returns the variable that a VarHandleOp or VariableV2 means.
func (s *store) variable(n *node) *variable {
	name := cmp.Or(n.text("shared_name"), n.name)
	return s.resource("variable "+n.text("container")+"/"+name, func() any {
		v := &variable{name: phrase.Name(name), typ: n.typ("dtype")}
		if shape := n.attrs["shape"].GetShape(); shape != nil && !shape.GetUnknownRank() {
			v.shape = dims(shape)
		}
		return v
	}).(*variable)
}

// now returns the value, nil if there is none yet.
func (v *variable) now() *Tensor {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value
}

// get returns the value.
func (v *variable) get() *Tensor {
	t := v.now()
	if t == nil {
		refuse("variable %s has no value", v.name)
	}
	return t
}

// set gives the variable a value, whose memory it keeps. The caller holds mu.
func (v *variable) set(t *Tensor) {
	if t.Type != v.typ {
		refuse("a value of type %v for variable %s of type %v", t.Type, v.name, v.typ)
	}
	if !like(t.Shape, v.shape) {
		refuse("a value of shape %v for variable %s of shape %v", t.Shape, v.name, v.shape)
	}
	v.value = t
}

// sum returns the value with more of the same type and shape added. The caller holds mu.
func (v *variable) sum(more *Tensor) *Tensor {
	if v.value == nil {
		refuse("variable %s has no value", v.name)
	}
	t := v.value.clone()
	if t.Type != more.Type || !slices.Equal(t.Shape, more.Shape) {
		refuse("%v %v for a variable of %v %v", more.Type, more.Shape, t.Type, t.Shape)
	}
	t.addRows(more, t.length(), []int{0})
	return t
}

// handle returns the variable that input i refers to.
func (c *call) handle(i int) *variable {
	v, ok := c.in[i].resource.(*variable)
	if !ok {
		refuse("input %d is no variable", i)
	}
	return v
}
