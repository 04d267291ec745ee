package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model"
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
	if r.finished { // and saved
		res.Digest, err = compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	} else {
		res.Digest, err = r.checkpoint(ctx, true)
	}
	if err != nil {
		return res, err
	}
	if r.rank == 0 && r.job.Export.SavedModel != "" && !(r.finished && r.isExported()) {
		r.team.Progress(r.loop.Step, "export")
		e, err := exporter{r.job, r.model, r.loss, r.data.eval}.write(r.loop.Step)
		if err != nil {
			return res, fmt.Errorf("export.savedmodel: %w", err)
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
	var exported []*model.Variable
	for _, v := range r.model.Variables() {
		exported = append(exported, &model.Variable{Name: v.Name, Shape: v.Shape})
	}
	bindValues(exported)
	err = newStored(b.Path, b.Step, input.Position{}, b.Variables).assign(exported)
	return err == nil && Digest(exported) == Digest(r.model.Variables())
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
	all, err := gatherEqual(ctx, g, mine)
	if err != nil {
		return err
	}
	t, took := &r.tracker, time.Since(r.tracker.begun)
	d := Done{
		Steps: r.loop.Step, Epochs: epochOf(r.loop.Source.Position()), Examples: t.allExamples, Took: Seconds(took),
		ExamplesPerS: perSecond(t.allExamples, took), Loss: t.lastEpochLoss(), Eval: r.last, Digest: digest,
	}
	if g.Membership().Size() > 1 {
		d.HiddenShare = Number(t.whole.hidden())
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
