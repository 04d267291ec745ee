package train

import (
	"context"
	"encoding/binary"
	"math"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/tensor"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// progressive collects the scores of examples before they are learned, since the last report.
type progressive struct {
	binary  bool
	ranking model.Ranking // of this rank
	base    epochSum      // sum of the epoch at the last report
	next    int64         // number of examples of the epoch after which the next report is due
}

// newProgressive continues from the current sum of the epoch.
func newProgressive(m *model.Model, at epochSum, batch int) *progressive {
	p := &progressive{binary: m.Graph().Head.Kind == graph.HeadBinary}
	p.reset(at, int64(batch))
	return p
}

// reset starts the interval of the next report, which is due when the number of examples has doubled.
func (p *progressive) reset(at epochSum, batch int64) {
	p.base = at
	p.ranking.Reset()
	for p.next = batch; p.next <= at.examples; p.next *= 2 {
	}
}

// addScores takes the scores of examples [first, first+n) of a share before they are learned. It skips
// records of weight 0.
func (p *progressive) addScores(scores tensor.Matrix, b *input.Batch, first int) {
	if !p.binary {
		return
	}
	for i := range scores.Rows {
		if at := first + i; at >= len(b.Importance) || b.Importance[at] != 0 {
			p.ranking.Add(scores.Data[i:i+1], b.Y[at:at+1])
		}
	}
}

// reportProgressive reports if a report is due. It is a collective operation.
func (r *run) reportProgressive(ctx context.Context) error {
	p, at := r.progressive, r.progress.epoch
	if p == nil {
		return nil
	}
	over := r.progress.position.Epoch > 0
	if at.examples < p.next && !over && !r.ending() {
		return nil
	}
	e, err := p.report(ctx, r.team.Group, at)
	if err != nil {
		return err
	}
	e.Step = r.loop.Step
	r.reporter.emit(e)
	p.reset(at, int64(r.globalBatch()))
	if over {
		r.progressive, r.loop.OnScores = nil, nil
	}
	return nil
}

// report returns the report of an epoch whose sum is at. It is collective.
func (p *progressive) report(ctx context.Context, g *ring.Group, at epochSum) (report.Progressive, error) {
	e := report.Progressive{Epoch: 1, Examples: at.examples, Loss: at.mean(), Last: at.examples - p.base.examples}
	e.LastLoss = report.Number((at.loss - p.base.loss) / float64(e.Last))
	if !p.binary {
		return e, nil
	}
	area, err := p.area(ctx, g)
	e.LastAUC = report.NewNumber(area)
	return e, err
}

// area returns the area under the curve of all ranks' scores, NaN if a score is NaN.
func (p *progressive) area(ctx context.Context, g *ring.Group) (float64, error) {
	undefined := bit(p.ranking.Undefined())
	all, err := gatherEqual(ctx, g, binary.LittleEndian.AppendUint64(nil, uint64(undefined)))
	if err != nil {
		return 0, err
	}
	for rank := range g.Membership().Size() {
		if binary.LittleEndian.Uint64(all.At(rank)) != 0 {
			return math.NaN(), nil
		}
	}
	return evaluate.AreaUnderCurve(ctx, g, &p.ranking)
}
