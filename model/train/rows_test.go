package train

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"ringtrain/model"
	"ringtrain/model/tensor"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

var rowVariables = []*model.Variable{{Name: "w", Shape: []int{10, 1}, ByRows: true}, {Name: "b", Shape: []int{1}}}

// TestRowUnion fails if optimizers that update by rows would touch other rows on
// one rank than on another, or than the global batch has.
func TestRowUnion(t *testing.T) {
	ids := [][][]uint32{ // by step and rank
		{{1, 3}, {}, {1, 9}},
		{{}, {}, {}},
		{{0}, {0}, {0, 5}},
	}
	want := [][]int64{{1, 3, 9}, {}, {0, 5}}
	ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
		var u rowUnion
		for step := range ids {
			x := tensor.Features{Bags: tensor.Bags{IDs: ids[step][g.Membership().Rank]}}
			got, err := u.gather(t.Context(), g, rowVariables, &x)
			if err != nil {
				return err
			}
			if got[0] == nil || !slices.Equal(got[0], want[step]) || got[1] != nil {
				t.Errorf("step %d: rows are %v, want %v, and none of the dense variable", step, got, want[step])
			}
		}
		return nil
	})
}

// TestRowsOfDenseModel fails if a model without such variables pays an operation
// for them.
func TestRowsOfDenseModel(t *testing.T) {
	var u rowUnion
	got, err := u.gather(t.Context(), nil, rowVariables[1:], nil) // without a group
	if err != nil || !reflect.DeepEqual(got, [][]int64{nil}) {
		t.Errorf("rows are %v, error %v, want none", got, err)
	}
}

// TestRowsRefuse fails if what a peer sends can make a rank panic or write
// outside of its variables.
func TestRowsRefuse(t *testing.T) {
	id := func(ids ...int64) (b []byte) {
		for _, id := range ids {
			b = binary.LittleEndian.AppendUint64(b, uint64(id))
		}
		return b
	}
	for _, b := range [][]byte{{1}, make([]byte, 7), append(id(1), 0), id(-1), id(1, 10), id(1 << 62), id(-1 << 63)} {
		t.Run(fmt.Sprintf("bytes=%x", b), func(t *testing.T) {
			ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
				if g.Membership().Rank == 1 {
					return g.AllGather(t.Context(), b, new(ring.Gathered))
				}
				var u rowUnion
				_, err := u.gather(t.Context(), g, rowVariables, &tensor.Features{})
				if exitcode.Of(err) != exitcode.Protocol {
					t.Errorf("error %v (%d), want code %d", err, exitcode.Of(err), exitcode.Protocol)
				}
				return nil
			})
		})
	}
}

// TestGatherEqual fails if a peer that sends too little could make a rank panic.
func TestGatherEqual(t *testing.T) {
	for _, n := range []int{0, 7, 9} {
		ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
			if g.Membership().Rank == 1 {
				return g.AllGather(t.Context(), make([]byte, n), new(ring.Gathered))
			}
			if _, err := gatherEqual(t.Context(), g, make([]byte, 8)); exitcode.Of(err) != exitcode.Protocol {
				t.Errorf("%d bytes: error %v (%d), want code %d", n, err, exitcode.Of(err), exitcode.Protocol)
			}
			return nil
		})
	}
}
