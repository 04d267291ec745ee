package interpreter

import (
	"cmp"
	"fmt"
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
func (m *Model) variable(n *node) *variable {
	name := cmp.Or(n.text("shared_name", ""), n.name)
	return m.resource("variable "+n.text("container", "")+"/"+name, func() any {
		v := &variable{name: phrase.Name(name), typ: n.typ("dtype")}
		if shape := n.attrs["shape"].GetShape(); shape != nil && !shape.GetUnknownRank() {
			v.shape = dims(shape)
		}
		return v
	}).(*variable)
}

// get returns the value.
func (v *variable) get() (*Tensor, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.value == nil {
		return nil, fmt.Errorf("variable %s has no value", v.name)
	}
	return v.value, nil
}

// set gives the variable a value, whose memory it keeps. The caller holds mu.
func (v *variable) set(t *Tensor) error {
	if t.Type != v.typ {
		return fmt.Errorf("a value of type %v for variable %s of type %v", t.Type, v.name, v.typ)
	}
	if !like(t.Shape, v.shape) {
		return fmt.Errorf("a value of shape %v for variable %s of shape %v", t.Shape, v.name, v.shape)
	}
	v.value = t
	return nil
}

// handle returns the variable that input i refers to.
func (c *call) handle(i int) (*variable, error) {
	if v, ok := c.in[i].resource.(*variable); ok {
		return v, nil
	}
	return nil, fmt.Errorf("input %d is no variable", i)
}

// variable returns the value of the variable that input i refers to.
func (c *call) variable(i int) (*Tensor, error) {
	v, err := c.handle(i)
	if err != nil {
		return nil, err
	}
	return v.get()
}
