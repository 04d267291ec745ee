package interpreter

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
)

// accepts returns an error if the number or the types of the inputs are not those of the kinds of the
// operation. The values may then be read without a further check. A letter stands for each input: T for
// types of the operation, the same for all T; i for int32 or int64, n for int32, b for bool, s for
// string, x for any. In T+i the T stands for one or more inputs. Without kinds nothing is checked.
func (o *op) accepts(in []*Tensor) error {
	if o.kinds == "" {
		return nil
	}
	first, rest, variadic := strings.Cut(o.kinds, "+")
	if repeated := len(in) - len(rest); variadic && repeated < 1 || !variadic && len(in) != len(first) {
		return fmt.Errorf("%d inputs, want %s", len(in), o.kinds)
	}
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
