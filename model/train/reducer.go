package train

import (
	"context"
	"fmt"

	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/ring/bucket"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

func (t *Trainer) newReducer(ctx context.Context, team Team) (*bucket.Reducer, error) {
	c := bucket.Config{ErrorFeedback: t.job.AllReduce.ErrorFeedback, BucketBytes: int(t.job.AllReduce.Bucket)}
	if t.job.AllReduce.Codec == job.Auto {
		c.CodedBytes = cost.WorthBytes
	}
	var err error
	if c.Codec, _, err = t.job.AllReduce.ParseCodec(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return bucket.NewReducer(ctx, team.Group, bucketVariables(t.model.Variables()), c)
}

// bindGrads places the gradients of vars in the buckets that the ring reads, again
// where the reducer moves them. Those of variables by rows are placed in each step.
func bindGrads(vars []*model.Variable, reducer *bucket.Reducer) {
	for i, v := range vars {
		v.Grad = reducer.Grad(i)
	}
}

// unbindGrads takes the gradients of vars away, before their memory goes with the
// group.
func unbindGrads(vars []*model.Variable) {
	for _, v := range vars {
		v.Grad, v.RowGrad, v.RowStride = nil, nil, 0
	}
}

// bucketVariables tells the reducer of the variables. A tensor of more than two
// dimensions is a matrix of as many columns as the last has; a variable by rows has as
// many rows as ids.
func bucketVariables(vars []*model.Variable) []bucket.Variable {
	var all []bucket.Variable
	for _, v := range vars {
		b := bucket.Variable{Name: v.Name, Len: v.Len(), Exact: len(v.Shape) < 2, ByRows: v.ByRows}
		if v.ByRows {
			b.Rows, b.Cols = v.Shape[0], v.RowLen()
		} else if !b.Exact && b.Len > 0 {
			b.Cols = v.Shape[len(v.Shape)-1]
			b.Rows = b.Len / b.Cols
		}
		all = append(all, b)
	}
	return all
}

// powersgd as allreduce.codec sends large matrices as two thin factors each, and
// all else exactly:
//
//	the first steps  a tenth of the run as first started, at most mostExact: no
//	                 codec, since gradients turn too fast for factors to follow
//	from then on     factors, with error feedback
//
// What the factors could not tell yet, and the directions that they follow,
// belong to a rank and are not saved: after a resume they begin anew, the
// directions with those that train.seed gives. What goes uncompressed is counted
// from the beginning of the run, not of the process.
type lowRank struct {
	rank  int   // of the factors; 0: none are to begin
	exact int64 // steps that go uncompressed
}

const mostExact = 500

func newLowRank(rank int, steps int64) lowRank {
	return lowRank{rank, min((steps+9)/10, mostExact)}
}

// why tells people what a run that begins after a step will do.
func (l lowRank) why(variables []bucket.Variable, step int64) string {
	from := max(l.exact, step)
	text := fmt.Sprintf("%d of %d variables travel as factors of rank %d from step %d on; uncompressed steps before that: %d",
		bucket.CountLowRank(variables, l.rank), len(variables), l.rank, from+1, from-step)
	if step > l.exact {
		text += "; error feedback and directions begin anew"
	}
	return text
}

// startLowRank goes over to factors, if it is time to, before the next step. It
// is collective then.
func (r *run) startLowRank(ctx context.Context) error {
	l := &r.lowRank
	if l.rank == 0 || r.finished || r.loop.Step < l.exact {
		return nil
	}
	if err := r.loop.Reducer.SetLowRank(ctx, l.rank, r.job.Train.Seed); err != nil {
		return err
	}
	bindGrads(r.model.Variables(), r.loop.Reducer)
	l.rank = 0
	return nil
}
