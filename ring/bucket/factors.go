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

// CountLowRank returns how many of the variables SetLowRank would send as
// factors of this rank: matrices that are not exact and more than twice as large
// as their factors.
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

// SetLowRank goes over to PowerSGD between two steps, after the same one on all
// ranks: matrices that are worth it travel as two factors of this rank, with
// error feedback, and all else exactly (see [CountLowRank]). The first directions
// are drawn from seed, which is the same on all ranks too. Gradients move: take
// Grad of every variable again.
//
// What is kept from step to step, what earlier steps lost and the directions,
// belongs to this rank and begins anew with each call. It takes as much memory
// as the gradients, and the factors less than half as much, from the group and
// until that closes. Where the group does not compress, SetLowRank is
// SetCodec(nil).
//
// It is collective; its error is one of ring.Group.Arena.
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
	r.follow(&l, true)
	r.factors = make([]*factors, len(l.Buckets))
	for b, k := range l.Buckets {
		if !k.Exact {
			f := r.newFactors(k, arena, rank, seed)
			r.factors[b], arena = f, arena[lines(len(f.p))+lines(len(f.q)):]
		}
	}
	return nil
}

// factorLens returns how many elements the factors of bucket k have.
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

// sumFactors has the ring sum the factors of bucket k instead of it.
func (r *Reducer) sumFactors(k *Bucket, f *factors) error {
	for i, l := range f.matrices {
		l.first(view(r.arena, k, k.Spans[i]))
	}
	if err := r.group.AllReduce(r.ctx, ring.Reduction{Buf: f.p, Codec: codec.None, Tails: r.wire}); err != nil {
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

// forget clears what is carried from step to step, when it has taken in what is
// not finite. All ranks do so after the same step.
func (r *Reducer) forget() {
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

// view returns the part of a variable of bucket k in what is as long as the
// arena.
func view(of []float32, k *Bucket, s Span) []float32 {
	at := k.Offset + s.Offset
	return of[at : at+s.Len : at+s.Len]
}
