package interpreter

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
)

// Kinds are the inputs of an operation, a letter for each: T for the types of the operation, the same
// for all T; i for int32 or int64, n for int32, b for bool, s for string, x for any. In T+i the T stands
// for one or more inputs. Without kinds nothing is checked.

// fits returns an error if a node has not the number of inputs, the attributes or the type of the operation.
func (o *op) fits(n *node) error {
	inputs := len(n.in)
	first, rest, variadic := strings.Cut(o.kinds, "+")
	if repeated := inputs - len(rest); o.kinds != "" && (variadic && repeated < 1 || !variadic && inputs != len(first)) {
		return fmt.Errorf("%d inputs, want %s", inputs, o.kinds)
	}
	for name := range strings.SplitSeq(o.needs, "+") {
		if name != "" && n.attrs[name] == nil {
			return fmt.Errorf("attribute %s is missing", name)
		}
	}
	for _, name := range []string{"T", "SrcT", "out_type"} {
		if t := n.typ(name); o.types != nil && t != tfpb.DataType_DT_INVALID && !slices.Contains(o.types, t) {
			return fmt.Errorf("attribute %s is %v, which is not known here, only %v", name, t, o.types)
		}
	}
	return nil
}

// accepts returns an error if the types of the inputs are not those of the operation. The values may
// then be read without a further check.
func (o *op) accepts(in []*Tensor) error {
	if o.kinds == "" {
		return nil
	}
	first, rest, variadic := strings.Cut(o.kinds, "+")
	same := tfpb.DataType_DT_INVALID
	for i, t := range in {
		kind := first[min(i, len(first)-1)]
		if k := i - (len(in) - len(rest)); k >= 0 && variadic {
			kind = rest[k]
		}
		ok := true
		switch kind {
		case 'T':
			if same == tfpb.DataType_DT_INVALID {
				same = t.Type
			}
			ok = t.Type == same && (o.types == nil || slices.Contains(o.types, t.Type))
		case 'i':
			ok = slices.Contains(integers, t.Type)
		case 'n':
			ok = t.Type == tfpb.DataType_DT_INT32
		case 'b':
			ok = t.Type == tfpb.DataType_DT_BOOL
		case 's':
			ok = t.Type == tfpb.DataType_DT_STRING
		}
		if !ok {
			return fmt.Errorf("input %d is %v, want %s", i, t.Type, o.kinds)
		}
	}
	return nil
}
