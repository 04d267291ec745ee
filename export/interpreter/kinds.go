package interpreter

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// Kinds are the inputs of an operation, a letter for each: T for the types of the operation, the same
// for all T; i for int32 or int64, n for int32, b for bool, s for string, x for any. In T+i the T stands
// for one or more inputs. Without kinds nothing is checked.

// check refuses a node that has not the number of inputs, the attributes or the type of the operation.
func (o *op) check(n *node) {
	first, rest, variadic := strings.Cut(o.kinds, "+")
	if repeated := len(n.in) - len(rest); o.kinds != "" && (variadic && repeated < 1 || !variadic && len(n.in) != len(first)) {
		refuse("%d inputs, want %s", len(n.in), o.kinds)
	}
	for term := range strings.FieldsSeq(o.attrs) {
		name, want, only := strings.Cut(term, "=")
		have := n.attrs[name]
		if have == nil && !only {
			refuse("attribute %s is missing", name)
		}
		if value := said(have); have != nil && only && value != want {
			refuse("%s is %s, want %s", name, phrase.Name(value), want)
		}
	}
	for _, name := range []string{"T", "SrcT", "out_type"} {
		if t := n.typ(name); o.types != nil && t != tfpb.DataType_DT_INVALID && !slices.Contains(o.types, t) {
			refuse("attribute %s is %v, which is not known here, only %v", name, t, o.types)
		}
	}
}

// said returns the value of an attribute as a text.
func said(a *tfpb.AttrValue) string {
	switch v := a.GetValue().(type) {
	case *tfpb.AttrValue_S:
		return string(v.S)
	case *tfpb.AttrValue_I:
		return fmt.Sprint(v.I)
	case *tfpb.AttrValue_B:
		return fmt.Sprint(v.B)
	case *tfpb.AttrValue_Type:
		return v.Type.String()
	case *tfpb.AttrValue_List:
		ints := strings.Trim(fmt.Sprint(v.List.GetI()), "[]")
		return strings.ReplaceAll(ints, " ", ",") + string(bytes.Join(v.List.GetS(), []byte(",")))
	}
	return ""
}

// accept refuses inputs of other types than those of the operation. The values may
// then be read without a further check.
func (o *op) accept(in []*Tensor) {
	if o.kinds == "" {
		return
	}
	first, rest, variadic := strings.Cut(o.kinds, "+")
	same := tfpb.DataType_DT_INVALID
	for i, t := range in {
		kind := first[min(i, len(first)-1)]
		if k := i - (len(in) - len(rest)); k >= 0 && variadic {
			kind = rest[k]
		}
		want := map[byte][]tfpb.DataType{'T': o.types, 'i': integers, 'n': integers[:1], 'b': truths, 's': texts}[kind]
		if kind == 'T' {
			same = cmp.Or(same, t.Type)
		}
		if want != nil && !slices.Contains(want, t.Type) || kind == 'T' && t.Type != same {
			refuse("input %d is %v, want %s", i, t.Type, o.kinds)
		}
	}
}
