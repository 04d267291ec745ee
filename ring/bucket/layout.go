package bucket

import (
	"slices"

	"ringtrain/ring/codec"
)

// A layout is a plan and the placement of each variable.
type layout struct {
	Plan
	placements []placement
}

// A placement gives the bucket of a variable and the place of its gradient. A variable by rows
// has a bucket only.
type placement struct{ bucket, offset, len int }

func newLayout(vars []Variable, bucketBytes int) (layout, error) {
	plan, err := NewPlan(vars, bucketBytes)
	l := layout{plan, make([]placement, len(vars))}
	for b, k := range plan.Buckets {
		for _, s := range k.Spans {
			l.placements[s.Variable] = placement{b, k.Offset + s.Offset, s.Len}
		}
		for _, i := range k.Tables {
			l.placements[i] = placement{bucket: b}
		}
	}
	return l, err
}

// newLayouts returns the layout without a lossy codec, where all variables are exact, and the
// one with a lossy codec.
func newLayouts(vars []Variable, bucketBytes int) (plain, lossy layout, err error) {
	if plain, err = newLayout(exactBut(vars, func(Variable) bool { return false }), bucketBytes); err != nil {
		return plain, lossy, err
	}
	lossy, err = newLayout(vars, bucketBytes)
	return plain, lossy, err
}

// exactBut returns vars with Exact set on all but those that are lossy.
func exactBut(vars []Variable, lossy func(Variable) bool) []Variable {
	exact := slices.Clone(vars)
	for i, v := range vars {
		exact[i].Exact = !lossy(v)
	}
	return exact
}

// SetCodec changes the codec (nil: none) between two steps, after the same step on all ranks,
// and ends SetLowRank. The residual starts at zero. A change between a lossy and an exact codec
// moves gradients: take Grad of every variable again.
//
// From the first lossy codec on, error feedback takes as much memory as the gradients. A model
// with only exact variables and variables by rows has no residual.
func (r *Reducer) SetCodec(c codec.Codec) {
	if r.inStep {
		panic("bucket: codec changed in a step")
	}
	if c == nil {
		c = codec.None
	}
	r.config.Codec, r.factors = c, nil
	if !c.Lossy() || !r.group.Compresses() {
		r.use(&r.plain, false)
		return
	}
	r.use(&r.lossy, r.config.ErrorFeedback)
}

// anyLossy reports whether a codec may touch a bucket of l.
func anyLossy(l *layout) bool {
	return slices.ContainsFunc(l.Buckets, func(k Bucket) bool { return !k.Exact })
}

// use makes l the current layout.
func (r *Reducer) use(l *layout, feedback bool) {
	if r.plan != nil && r.plan != l {
		clear(r.arena) // what lies between the variables is summed, too
	}
	r.plan, r.residual = l, nil
	if feedback && anyLossy(l) {
		r.residual = make([]float32, len(r.arena))
	}
	r.missing = r.missing[:len(l.Buckets)]
	r.times.took = r.times.took[:len(l.Buckets)]
}
