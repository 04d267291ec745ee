package train

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// stop ends a run that a signal stopped: the state is saved, nothing else.
func (r *run) stop(ctx context.Context) (Result, error) {
	res := r.result()
	var err error
	if res.Digest, err = r.finalCheckpoint(ctx, false); err == nil {
		r.noticeSaved()
		r.endSummary()
	}
	return res, err
}

// tellSaved has rank 0 say what a run that was stopped goes on from.
func (r *run) noticeSaved() {
	switch {
	case r.rank != 0:
	case r.folder == nil:
		r.opts.Notice("no state is saved: the job has no checkpoint.dir")
	default:
		r.opts.Notice(fmt.Sprintf("the state after step %d is saved in %s", r.loop.Step, r.job.Checkpoint.Dir))
	}
}

// leave ends the run of a rank that leaves the others alone.
func (r *run) leave() Result {
	res := r.result()
	r.noticeSaved()
	digest := Digest(r.model.Variables())
	res.Stopped, res.Alone, res.Digest = exitcode.Terminated, true, hex.EncodeToString(digest[:])
	return res
}

// finish ends a run that did all its steps: checkpoint, evaluation, export. What was
// trained is saved before anything else can fail. Where a generation ended in it, the
// next one goes through all of it again, and what rank 0 has written and told by then
// stands.
func (r *run) finish(ctx context.Context) (Result, error) {
	res := r.result()
	var err error
	if r.finished { // and saved
		res.Digest, err = compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	} else {
		res.Digest, err = r.finalCheckpoint(ctx, true)
	}
	if err != nil {
		return res, err
	}
	if r.validatedProgressively() {
		r.lastMetrics = report.Metrics{Step: r.loop.Step, Epoch: 1, Split: r.data.Split, Examples: r.progress.epoch.examples, Loss: r.progress.epoch.mean()}
	} else if err := r.evaluate(ctx); err != nil {
		return res, err
	}
	if err := r.export(); err != nil {
		return res, err
	}
	r.awaitCache()
	return res, r.done(ctx, res.Digest)
}

// validated reports whether progressive validation stands for the evaluation at the end: every
// record was scored before it was learned, and there are no others to evaluate. An evaluation of
// the training records would read all of them again, and say less. An export wants one: nothing
// that is not finite may be served.
func (r *run) validatedProgressively() bool {
	j := r.job
	return j.Eval.Progressive && r.data.Split == "train" && len(r.evals) == 0 && r.progress.position == (input.Position{Epoch: 1}) &&
		j.Eval.Every == (job.Every{}) && j.Export.SavedModel == "" && j.Train.EarlyStopping.Patience == 0
}

// export has rank 0 write a serving bundle, unless it is written: by this process,
// or by the one before it.
func (r *run) export() error {
	switch {
	case r.rank != 0, r.job.Export.SavedModel == "", r.exported, (r.finished || r.fromPeer) && r.isExported():
		return nil
	}
	r.team.Progress(r.loop.Step, "export")
	x := trained.Exporter{Job: r.job, Model: r.model, Data: r.data.Eval}
	if r.folder != nil {
		x.Held = r.folder.CheckLease
	}
	var e report.Exported
	err := r.withExportedValues(func(step int64) (err error) {
		e, err = x.Write(step)
		return err
	})
	if err != nil {
		return fmt.Errorf("export.savedmodel: %w", err)
	}
	r.exported = true
	r.emit(e)
	return nil
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
	model.AllocateAll(exported)
	err = trained.NewVariables(b.Path, b.Step, 0, b.Variables).Assign(exported)
	same := false
	shown := r.withExportedValues(func(int64) error {
		same = err == nil && Digest(exported) == Digest(r.model.Variables())
		return nil
	})
	return same && shown == nil
}

// done gathers what the ranks sent and needed and reports the end.
func (r *run) done(ctx context.Context, digest string) error {
	g := r.team.Group
	r.team.Progress(r.loop.Step, "end")
	sent, between := g.SentBytes()
	var mine []byte
	for _, v := range []int64{r.sent + sent, r.sentBetween + between, maxRSS()} {
		mine = binary.LittleEndian.AppendUint64(mine, uint64(v))
	}
	all, err := gatherEqual(ctx, g, mine)
	if err != nil {
		return err
	}
	if r.doneReported {
		return nil
	}
	r.doneReported = true
	r.endSummary()
	t, took := &r.tracker, time.Since(r.tracker.startedAt)
	d := report.Done{
		Steps: r.loop.Step, Epochs: r.loop.Source.Position().LastEpoch(), Examples: t.allExamples, Took: report.Seconds(took),
		ExamplesPerS: perSecond(t.allExamples, took), Loss: r.progress.epoch.mean(), Eval: r.lastMetrics, Digest: digest, Zeros: zerosOf(r.model.Variables()),
	}
	if g.Membership().Size() > 1 {
		d.HiddenShare = report.Number(t.total.hiddenShare())
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

// awaitCache lets a cache be finished that the job asks for, where the records were read once
// before it was whole.
func (r *run) awaitCache() {
	if c := r.job.Input.Cache; c == convert.CacheAuto || c == convert.CacheOff {
		return
	}
	if g, ok := r.data.Train.(interface{ Made() bool }); ok {
		r.team.Progress(r.loop.Step, "cache")
		g.Made()
	}
}

// Departed means that ranks have left after a step, as they had asked to, and
// that this rank holds the state after it. Join the next generation and call Run
// again.
type Departed struct {
	Ranks []int
	Step  int64 // completed
}

func (e *Departed) Error() string {
	if len(e.Ranks) == 1 {
		return fmt.Sprintf("rank %d has left after step %d", e.Ranks[0], e.Step)
	}
	return fmt.Sprintf("ranks %v have left after step %d", e.Ranks, e.Step)
}

// Unwrap is ring.ErrGenerationEnded.
func (e *Departed) Unwrap() error { return ring.ErrGenerationEnded }

// depart lets those ranks go that have asked to leave, when all have completed
// the step. Nobody else has rank 0's disk, so that it writes a checkpoint before
// it goes; all else that is due is left to the next generation.
func (r *run) depart(ctx context.Context) error {
	e := &Departed{Step: r.loop.Step}
	for rank, t := range r.loop.Reducer.Tails() {
		if t.Depart {
			e.Ranks = append(e.Ranks, rank)
		}
	}
	if e.Ranks[0] == 0 {
		r.agreed.Checkpoint = true
		if _, err := r.finalCheckpoint(ctx, false); err != nil {
			return err
		}
	}
	if err := r.team.Group.Barrier(ctx); err != nil {
		return err
	}
	if e.Ranks[0] == 0 {
		r.agreed.Checkpoint = false
	}
	if r.leaves = slices.Contains(e.Ranks, r.rank); r.leaves {
		return nil
	}
	return exitcode.With(exitcode.Retry, e)
}
