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

// newReducer returns a reducer of the gradients in the group's arena.
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

// bindGrads places the gradients of vars in the buckets that the ring reads. The caller repeats it when
// the reducer moves the buckets. Gradients of variables by rows are placed in each step.
func bindGrads(vars []*model.Variable, reducer *bucket.Reducer) {
	for i, v := range vars {
		v.Grad = reducer.Grad(i)
	}
}

// bucketVariables describes the variables to the reducer. A tensor of more than two dimensions is a
// matrix with as many columns as its last dimension. A variable by rows has one row for each id.
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

// lowRank is the plan of allreduce.codec powersgd. Large matrices travel as two thin factors each, and
// all else travels exactly:
//
//	the first steps  a tenth of the run, at most maxExactSteps: no
//	                 codec, since gradients turn too fast for factors to follow
//	after them       factors, with error feedback
//
// Each rank has residuals and directions of its own, which are not saved. After a resume they start
// again, the directions from train.seed. The uncompressed steps count from the start of the run, not
// of the process.
type lowRank struct {
	rank  int   // of the factors; 0: no factors will be used
	exact int64 // number of uncompressed steps
}

// maxExactSteps bounds the number of uncompressed steps.
const maxExactSteps = 500

func newLowRank(rank int, steps int64) lowRank {
	return lowRank{rank, min((steps+9)/10, maxExactSteps)}
}

// why describes the use of factors in a run that continues after step.
func (l lowRank) why(variables []bucket.Variable, step int64) string {
	from := max(l.exact, step)
	text := fmt.Sprintf("%d of %d variables travel as factors of rank %d from step %d on; uncompressed steps before that: %d",
		bucket.CountLowRank(variables, l.rank), len(variables), l.rank, from+1, from-step)
	if step > l.exact {
		text += "; error feedback and directions begin anew"
	}
	return text
}

// startLowRank starts the use of factors before the step after step, if that is the first to use them.
// It is collective then. A finished run has no further step.
func (t *tuner) startLowRank(ctx context.Context, step int64, finished bool) error {
	l := &t.lowRank
	if l.rank == 0 || finished || step < l.exact {
		return nil
	}
	if err := t.reducer.SetLowRank(ctx, l.rank, t.seed); err != nil {
		return err
	}
	bindGrads(t.vars, t.reducer)
	l.rank = 0
	return nil
}
