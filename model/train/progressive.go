package train

import (
	"context"
	"math"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
)

// Progressive reports what the model said of the records of the first epoch before it learned
// them, as Vowpal Wabbit does: so they validate it, though they are trained on. The reports come
// after 1, 2, 4, … global batches, and at the end of the epoch (Blum, Kalai and Langford, "Beating
// the hold-out", 1999).
type Progressive struct {
	Step     int64   `json:"step"`
	Epoch    int64   `json:"epoch"`    // 1
	Examples int64   `json:"examples"` // of the epoch so far
	Loss     Number  `json:"loss"`     // mean over them
	Last     int64   `json:"last_examples"`
	LastLoss Number  `json:"last_loss"`          // mean over those since the last report
	LastAUC  *Number `json:"last_auc,omitempty"` // of binary models; over the same
}

// Kind names the event.
func (Progressive) Kind() string { return "progressive" }

// progressive collects the scores of examples before they are learned, since the last report.
type progressive struct {
	binary  bool
	ranking model.Ranking // of this rank
	begun   epochSum      // what the epoch had come to by then
	next    int64         // examples of the epoch after which the next report is due
}

// newProgressive goes on from what the epoch has come to, nil if there is nothing to report: the
// job does not ask for it, or the first epoch is over.
func (r *run) newProgressive() *progressive {
	if !r.job.Eval.Progressive || r.where.position.Epoch > 0 {
		return nil
	}
	p := &progressive{binary: r.model.Graph().Head.Kind == graph.HeadBinary}
	p.begin(r.where.epoch, int64(r.globalBatch()))
	return p
}

// begin begins what the next report is of. It is due when the batches have doubled.
func (p *progressive) begin(at epochSum, batch int64) {
	p.begun = at
	p.ranking.Reset()
	for p.next = batch; p.next <= at.examples; p.next *= 2 {
	}
}

// see takes in the examples [first, first+n) of a share, with the scores before they are learned.
// Records that are bad or count nothing are left out.
func (p *progressive) see(scores tensor.Matrix, b *input.Batch, first int) {
	if !p.binary {
		return
	}
	for i := range scores.Rows {
		if at := first + i; at >= len(b.Importance) || b.Importance[at] != 0 {
			p.ranking.Add(scores.Data[i:i+1], b.Y[at:at+1])
		}
	}
}

// progress reports if a report is due. It is a collective operation.
func (r *run) progress(ctx context.Context) error {
	p, at := r.progressive, r.where.epoch
	if p == nil {
		return nil
	}
	over := r.where.position.Epoch > 0
	if at.examples < p.next && !over && !r.ending() {
		return nil
	}
	e := Progressive{Step: r.loop.Step, Epoch: 1, Examples: at.examples, Loss: at.mean(), Last: at.examples - p.begun.examples}
	e.LastLoss = Number((at.loss - p.begun.loss) / float64(e.Last))
	if p.binary {
		area, err := r.progressiveArea(ctx)
		if err != nil {
			return err
		}
		e.LastAUC = pointer(area)
	}
	r.emit(e)
	if p.begin(at, int64(r.globalBatch())); over {
		r.progressive, r.loop.See = nil, nil
	}
	return nil
}

// progressiveArea is the area under the curve of all ranks' scores, NaN where one is NaN.
func (r *run) progressiveArea(ctx context.Context) (float64, error) {
	var undefined int64
	if r.progressive.ranking.Undefined() {
		undefined = 1
	}
	all, err := gatherEqual(ctx, r.team.Group, appendInt(nil, undefined))
	if err != nil {
		return 0, err
	}
	for rank := range r.team.Group.Membership().Size() {
		if n, _, err := takeInt(all.At(rank)); err != nil || n != 0 {
			return math.NaN(), err
		}
	}
	return areaUnderCurve(ctx, r.team.Group, &r.progressive.ranking)
}
