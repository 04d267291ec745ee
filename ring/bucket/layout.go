package bucket

import (
	"slices"

	"ringtrain/ring/codec"
)

// A layout is a plan, and where it puts each variable.
type layout struct {
	Plan
	places []where
}

// A where says where a variable's gradient lies; that of a table has no place, but a bucket.
type where struct{ bucket, offset, len int }

func newLayout(vars []Variable, bucketBytes int) (layout, error) {
	plan, err := NewPlan(vars, bucketBytes)
	l := layout{plan, make([]where, len(vars))}
	for b, k := range plan.Buckets {
		for _, s := range k.Spans {
			l.places[s.Variable] = where{b, k.Offset + s.Offset, s.Len}
		}
		for _, i := range k.Tables {
			l.places[i] = where{bucket: b}
		}
	}
	return l, err
}

// newLayouts plans for a run without a lossy codec, where there is nothing to
// keep apart and all variables are exact, and for one with.
func newLayouts(vars []Variable, bucketBytes int) (plain, lossy layout, err error) {
	if plain, err = newLayout(exactBut(vars, func(Variable) bool { return false }), bucketBytes); err != nil {
		return plain, lossy, err
	}
	lossy, err = newLayout(vars, bucketBytes)
	return plain, lossy, err
}

// exactBut returns vars, all exact but those that are lossy.
func exactBut(vars []Variable, lossy func(Variable) bool) []Variable {
	exact := slices.Clone(vars)
	for i, v := range vars {
		exact[i].Exact = !lossy(v)
	}
	return exact
}

// SetCodec changes the codec (nil: none) between two steps, after the same one
// on all ranks, and ends what SetLowRank began. The residual starts at zero.
// Gradients move between a lossy codec and one that is not: take Grad of every
// variable again.
//
// From the first lossy codec on, error feedback takes as much memory as the
// gradients. A model all of whose variables are exact or by rows has none.
func (r *Reducer) SetCodec(c codec.Codec) {
	if r.inStep {
		panic("bucket: codec changed in a step")
	}
	if c == nil {
		c = codec.None
	}
	r.config.Codec, r.factors = c, nil
	if !c.Lossy() || !r.group.Compresses() {
		r.follow(&r.plain, false)
		return
	}
	r.follow(&r.lossy, r.config.ErrorFeedback)
}

// anyLossy reports whether a codec may touch a bucket of l, which then has error feedback.
func anyLossy(l *layout) bool {
	return slices.ContainsFunc(l.Buckets, func(k Bucket) bool { return !k.Exact })
}

// follow puts a layout in force.
func (r *Reducer) follow(l *layout, feedback bool) {
	if r.plan != nil && r.plan != l {
		clear(r.arena) // what lies between the variables is summed, too
	}
	r.plan, r.residual = l, nil
	if feedback && anyLossy(l) {
		r.residual = make([]float32, len(r.arena))
	}
	r.missing = r.missing[:len(l.Buckets)]
	r.took = r.took[:len(l.Buckets)]
}
