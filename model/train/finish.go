package train

import (
	"context"
	"encoding/binary"
	"time"

	"ringtrain/export/savedmodel"
	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// stop ends a run that a signal stopped: the state is saved, nothing else.
func (r *run) stop(ctx context.Context) (Result, error) {
	res := r.result()
	var err error
	res.Digest, err = r.checkpoint(ctx, false)
	return res, err
}

// finish ends a run that did all its steps: evaluation, checkpoint, export.
func (r *run) finish(ctx context.Context) (Result, error) {
	res := r.result()
	if r.lastStep != r.loop.Step {
		if err := r.evaluate(ctx); err != nil {
			return res, err
		}
	}
	var err error
	if r.finished {
		res.Digest, err = compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	} else {
		res.Digest, err = r.checkpoint(ctx, true)
	}
	if err != nil {
		return res, err
	}
	if r.rank == 0 && r.job.Export.SavedModel != "" && !(r.finished && r.isExported()) {
		r.team.Progress(r.loop.Step, "export")
		e, err := writeExport(r.job, r.model, r.loss, r.data.eval, r.loop.Step)
		if err != nil {
			return res, exitcode.With(exitcode.IO, err)
		}
		r.emit(e)
	}
	return res, r.done(ctx, res.Digest)
}

// isExported tells whether the newest export holds these very variables.
func (r *run) isExported() bool {
	b, err := savedmodel.Read(r.job.Export.SavedModel)
	if err != nil {
		return false // none yet, or none that counts
	}
	exported := make([]*model.Variable, 0)
	for _, v := range r.model.Variables() {
		exported = append(exported, &model.Variable{Name: v.Name, Shape: v.Shape})
	}
	bindValues(exported)
	return assign(b.Path, b.Variables, exported) == nil && Digest(exported) == Digest(r.model.Variables())
}

// done gathers what the ranks sent and needed and reports the end.
func (r *run) done(ctx context.Context, digest string) error {
	g := r.team.Group
	r.team.Progress(r.loop.Step, "end")
	sent, between := g.SentBytes()
	var mine []byte
	for _, v := range []int64{sent, between, maxRSS()} {
		mine = binary.LittleEndian.AppendUint64(mine, uint64(v))
	}
	var all ring.Gathered
	if err := g.AllGather(ctx, mine, &all); err != nil {
		return err
	}
	took := time.Since(r.tracker.begun)
	d := Done{
		Steps: r.loop.Step, Epochs: r.epoch(), Examples: r.tracker.allExamples, Took: Seconds(took),
		ExamplesPerS: float64(r.tracker.allExamples) / max(took.Seconds(), 1e-9),
		Loss:         r.tracker.lastEpochLoss, Eval: r.last, Digest: digest,
	}
	for rank := range g.Membership().Size() {
		b := all.At(rank)
		d.SentBytes += int64(binary.LittleEndian.Uint64(b))
		d.SentBetweenHostsBytes += int64(binary.LittleEndian.Uint64(b[8:]))
		d.MaxRSSBytes = max(d.MaxRSSBytes, int64(binary.LittleEndian.Uint64(b[16:])))
	}
	r.emit(d)
	return nil
}
