package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"ringtrain/model"
	"ringtrain/model/tensor"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// rowUnion finds which rows of the tables a global batch touches: optimizers
// that update by rows must touch the same ones on every rank.
type rowUnion struct {
	bytes  []byte
	all    ring.Gathered
	union  []int64
	byVar  [][]int64
	needed bool
	ready  bool
}

// gather returns for each variable by rows the sorted rows that the global batch
// touches, which may be none. A dense variable has no list. The result is valid
// until the next call. It is a collective operation if any variable is updated by rows.
func (u *rowUnion) gather(ctx context.Context, g *ring.Group, vars []*model.Variable, x *tensor.Features) ([][]int64, error) {
	if !u.ready {
		u.ready, u.byVar = true, make([][]int64, len(vars))
		u.needed = slices.ContainsFunc(vars, func(v *model.Variable) bool { return v.ByRows })
	}
	if !u.needed {
		return u.byVar, nil
	}
	u.bytes = u.bytes[:0]
	for _, id := range x.Bags.IDs {
		u.bytes = binary.LittleEndian.AppendUint64(u.bytes, uint64(id))
	}
	if err := g.AllGather(ctx, u.bytes, &u.all); err != nil {
		return nil, err
	}
	if err := u.merge(g.Membership(), vars); err != nil {
		return nil, err
	}
	return u.byVar, nil
}

// merge decodes and unites the ranks' lists.
func (u *rowUnion) merge(m ring.Membership, vars []*model.Variable) error {
	u.union = u.union[:0]
	for r := range m.Size() {
		b := u.all.At(r)
		if len(b)%8 != 0 {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes of ids, want a multiple of 8", r, len(b)))
		}
		for ; len(b) > 0; b = b[8:] {
			u.union = append(u.union, int64(binary.LittleEndian.Uint64(b)))
		}
	}
	u.union = sortUnique(u.union)
	for i, v := range vars {
		if !v.ByRows {
			continue
		}
		if n := len(u.union); n > 0 && (u.union[0] < 0 || u.union[n-1] >= int64(v.Shape[0])) {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("a rank sent ids outside %s, which has %d rows", v.Name, v.Shape[0]))
		}
		u.byVar[i] = u.union
	}
	return nil
}

func sortUnique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
