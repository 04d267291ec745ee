package bucket

import (
	"context"

	"ringtrain/ring"
	"ringtrain/ring/codec"
)

// factors are what a bucket of matrices travels as. Both lie in an arena of the
// group, each in one piece, so that a bucket takes two all-reduces however many
// matrices it has:
//
//	bucket   │ b/kernel │     a/kernel     │
//	p        │ P of b │ P of a │               first all-reduce, with the tails
//	q        │ Q of b │  Q of a  │             second
type factors struct {
	p, q     []float32
	matrices []*lowRank // by span of the bucket
}

// CountLowRank returns how many of the variables SetLowRank would send as factors of this rank:
// matrices that are not exact and more than twice as large as their factors.
func CountLowRank(vars []Variable, rank int) int {
	n := 0
	for _, v := range vars {
		if isLowRank(v, rank) {
			n++
		}
	}
	return n
}

func isLowRank(v Variable, rank int) bool {
	return !v.ByRows && v.kind() == lossyKind && lowRankPays(v.Rows, v.Cols, rank)
}

// SetLowRank switches to PowerSGD between two steps, after the same step on all ranks. Matrices
// that are large enough travel as two factors of this rank, with error feedback; all else is
// exact (see [CountLowRank]). seed, equal on all ranks, gives the first directions. Gradients
// move: take Grad of every variable again.
//
// The directions and the errors of earlier steps belong to this rank and start anew with each
// call. They take as much memory as the gradients. The factors take less than half as much,
// from the group until it closes. If the group does not compress, SetLowRank is SetCodec(nil).
//
// SetLowRank is collective; it returns an error of ring.Group.Arena.
func (r *Reducer) SetLowRank(ctx context.Context, rank int, seed uint64) error {
	if rank < 1 {
		panic("bucket: SetLowRank with a rank below 1")
	}
	r.SetCodec(nil)
	if !r.group.Compresses() {
		return nil
	}
	lossy := func(v Variable) bool { return isLowRank(v, rank) }
	l, err := newLayout(exactBut(r.vars, lossy), r.config.BucketBytes)
	if err != nil {
		return err
	}
	n := 0
	for _, k := range l.Buckets {
		p, q := r.factorLens(k, rank)
		n += lines(p) + lines(q)
	}
	arena, err := r.group.Arena(ctx, n)
	if err != nil {
		return err
	}
	r.use(&l, true)
	r.factors = make([]*factors, len(l.Buckets))
	for b, k := range l.Buckets {
		if !k.Exact {
			f := r.newFactors(k, arena, rank, seed)
			r.factors[b], arena = f, arena[lines(len(f.p))+lines(len(f.q)):]
		}
	}
	return nil
}

// factorLens returns the number of elements of the factors of bucket k.
func (r *Reducer) factorLens(k Bucket, rank int) (p, q int) {
	if k.Exact {
		return 0, 0
	}
	for _, s := range k.Spans {
		p += rank * r.vars[s.Variable].Rows
		q += rank * r.vars[s.Variable].Cols
	}
	return p, q
}

// newFactors puts the factors of bucket k at the start of arena.
func (r *Reducer) newFactors(k Bucket, arena []float32, rank int, seed uint64) *factors {
	np, nq := r.factorLens(k, rank)
	f := &factors{p: arena[:np:np], q: arena[lines(np):][:nq:nq]}
	p, q := f.p, f.q
	for _, s := range k.Spans {
		v := r.vars[s.Variable]
		l := &lowRank{
			rows: v.Rows, cols: v.Cols, rank: rank, p: p[:rank*v.Rows], q: q[:rank*v.Cols],
			lost: view(r.residual, &k, s), seed: seed, stream: uint64(s.Variable),
		}
		p, q = p[len(l.p):], q[len(l.q):]
		l.reset()
		f.matrices = append(f.matrices, l)
	}
	return f
}

// sumFactors sums the factors of bucket k instead of its gradients.
func (r *Reducer) sumFactors(k *Bucket, f *factors) error {
	for i, l := range f.matrices {
		l.first(view(r.arena, k, k.Spans[i]))
	}
	if err := r.group.AllReduce(r.ctx, ring.Reduction{Buf: f.p, Codec: codec.None, Tails: r.tailBytes}); err != nil {
		return err
	}
	for i, l := range f.matrices {
		l.second(view(r.arena, k, k.Spans[i]))
	}
	if err := r.group.AllReduce(r.ctx, ring.Reduction{Buf: f.q, Codec: codec.None}); err != nil {
		return err
	}
	for i, l := range f.matrices {
		l.third(view(r.arena, k, k.Spans[i]))
	}
	return nil
}

// clearResiduals clears the errors of earlier steps after a step that was not finite. All ranks
// do so after the same step.
func (r *Reducer) clearResiduals() {
	clear(r.residual)
	for _, f := range r.factors {
		if f == nil {
			continue
		}
		for _, l := range f.matrices {
			l.reset()
		}
	}
}

// view returns the part of a variable of bucket k in a slice with the length of the arena.
func view(of []float32, k *Bucket, s Span) []float32 {
	at := k.Offset + s.Offset
	return of[at : at+s.Len : at+s.Len]
}
