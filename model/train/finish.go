package train

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// stop ends a run that a signal stopped: it saves the state and does nothing else.
func (r *run) stop(ctx context.Context) (Result, error) {
	res := r.result()
	var err error
	if res.Digest, err = r.checkpoint(ctx, false); err == nil {
		if r.rank == 0 {
			r.noticeSaved()
		}
		r.reporter.warnUnwritten(r.reporter.curves.flush())
	}
	return res, finalCheckpointError(err)
}

// noticeSaved gives notice, on rank 0, of the checkpoint from which an ended run resumes.
func (t *Trainer) noticeSaved() {
	if t.outputs.folder == nil {
		t.reporter.notice("no state is saved: the job has no checkpoint.dir")
		return
	}
	t.reporter.notice(fmt.Sprintf("the state after step %d is saved in %s", t.progress.step, t.job.Checkpoint.Dir))
}

// leave ends the run of a rank that leaves while the others continue. They repeat at most the step in
// flight. Rank 0 saves first, because no other rank has its disk.
func (r *run) leave() (Result, error) {
	res, digest := r.result(), Digest(r.model.Variables())
	res.Stopped, res.Alone, res.Digest = ofSignal(r.signals.told()), true, hex.EncodeToString(digest[:])
	if r.rank != 0 {
		return res, nil
	}
	r.team.Progress(r.loop.Step, "checkpoint")
	return res, finalCheckpointError(r.saveLast())
}

// finish ends a run that completed its steps: checkpoint, evaluation, export. The checkpoint comes
// first, before anything else can fail. If a generation ends during finish, the next generation
// repeats all of it, and skips the outputs that rank 0 has already written or reported. A signal to all
// ranks ends evaluation and export; the next start of the job makes them.
func (r *run) finish(ctx context.Context) (Result, error) {
	res := r.result()
	var err error
	if r.finished { // the checkpoint is of this step
		res.Digest, err = compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	} else {
		res.Digest, err = r.checkpoint(ctx, true)
	}
	if err != nil {
		return res, finalCheckpointError(err)
	}
	if err := r.conclude(ctx); err != nil {
		return res, err
	}
	r.awaitCache()
	err = r.done(res.Digest)
	res.Stopped = r.stopped
	if r.rank == 0 && r.stopped != 0 {
		r.noticeSaved()
	}
	return res, err
}

// conclude evaluates and exports the result of the run. The last step is evaluated first, if no
// evaluation has counted it yet: it may be the best.
func (r *run) conclude(ctx context.Context) error {
	last := r.loop.Step
	counted := r.progress.best.seen == last
	if !counted {
		if err := r.evaluate(last, r.loop.Source.Position().LastEpoch()); err != nil {
			return r.stopOr(err)
		}
	}
	return r.asResult(ctx, func(step, epoch int64) error {
		if counted || step != last {
			if err := r.evaluate(step, epoch); err != nil {
				return r.stopOr(err)
			}
		}
		return r.averages.with(r.job.Train.Average.Export, func() error {
			if err := r.stopOr(r.export(step)); err != nil {
				return err
			}
			return r.stopOr(r.evaluateTest(step, epoch)) // also where rank 0 has stopped: it is collective
		})
	})
}

// evaluateTest reports the metrics of the test records, with what is exported.
func (r *run) evaluateTest(step, epoch int64) error {
	if r.data.Test == nil {
		return nil
	}
	r.team.Progress(r.loop.Step, "evaluate")
	e := evaluate.Evaluator{Model: r.model, Data: r.data.Test, Split: input.Test.String(), TopK: r.job.Eval.TopK, MaxBad: r.job.Input.MaxBad, Threshold: r.eval.threshold}
	m, err := e.Run(r.signals.alone, r.signals.any, r.team.Group)
	if err != nil || r.reporter.tested {
		return err
	}
	m.Step, m.Epoch, r.reporter.tested = step, epoch, true
	r.reporter.emit(m)
	return nil
}

// stopOr returns err, unless a signal to all ranks is its reason: then the run stops here.
func (r *run) stopOr(err error) error {
	_, failed := errors.AsType[evaluate.Failure](err)
	if code := ofSignal(err); code != 0 && (failed || r.signals.stopCode() != 0) {
		r.stopped = code
		return nil
	}
	return err
}

// export writes a serving bundle of the current variables on rank 0, unless this process or its
// predecessor has written it.
func (r *run) export(step int64) error {
	out := &r.outputs
	if r.rank != 0 || r.job.Export.SavedModel == "" {
		return nil
	}
	if r.progress.best.step == step && r.job.Train.EarlyStopping.Patience > 0 {
		out.exportedBest = step
	}
	if out.exported || (r.finished || r.fromPeer) && r.isExported(r.job.Export.SavedModel) {
		return nil
	}
	r.team.Progress(r.loop.Step, "export")
	if guard := r.job.Export.If; r.data.Eval == nil && !guard.IsAlways() && len(guard.Bounds()) == 0 {
		r.reporter.notice("export.if is sound: without validation records only the variables are looked at")
	}
	evaluated := r.eval.stored(r.progress.best)
	x := trained.Exporter{Job: r.job, Key: "export.savedmodel", Model: r.model, Proving: r.data.Proving, Tolerate: r.job.Input.MaxBad > 0, Evaluated: &evaluated, Disk: out.disk}
	if out.folder != nil {
		x.Held = out.folder.CheckLease
	}
	e, err := x.Write(r.signals.any, step)
	if exitcode.Of(err) == exitcode.NotFinite && out.folder != nil {
		err = fmt.Errorf("%w; its checkpoint is kept", err)
	}
	if err != nil {
		return err
	}
	out.exported = true
	r.reporter.emit(e)
	return nil
}

// isExported reports whether the newest export in dir holds the values of these variables.
func (r *replica) isExported(dir string) bool {
	b, err := savedmodel.Read(dir)
	if err != nil {
		return false // no export, or none that can be read
	}
	var exported []*model.Variable
	for _, v := range r.model.Variables() {
		exported = append(exported, &model.Variable{Name: v.Name, Shape: v.Shape})
	}
	model.AllocateAll(exported)
	err = trained.NewVariables(b.Path, b.Step, 0, b.Variables).Assign(exported)
	return err == nil && Digest(exported) == Digest(r.model.Variables())
}

// done gathers the bytes that the ranks sent, the memory that they used, and the signals that stopped
// them. It reports the end, unless there was one.
func (r *run) done(digest string) error {
	g := r.team.Group
	r.team.Progress(r.loop.Step, "end")
	sent, between := g.SentBytes()
	var mine []byte
	for _, v := range []int64{r.sent + sent, r.sentBetween + between, statusBytes("VmHWM"), int64(r.stopped)} {
		mine = binary.LittleEndian.AppendUint64(mine, uint64(v))
	}
	all, err := gatherEqual(r.signals.alone, g, mine)
	if err != nil {
		return err
	}
	for rank := range g.Membership().Size() { // rank 0 alone may have stopped, in its export
		r.stopped = max(r.stopped, int(binary.LittleEndian.Uint64(all.At(rank)[24:])))
	}
	if r.reporter.done || r.stopped != 0 {
		return nil
	}
	r.reporter.done = true
	if m := r.eval.last; m != nil {
		if why := evaluate.NotBetter(m); why != "" {
			r.reporter.warnOf("evaluate", why)
		}
	}
	r.reporter.warnUnwritten(r.reporter.curves.flush())
	t := &r.reporter.tracker
	took := time.Since(t.startedAt)
	at := r.loop.Source.Position()
	d := report.Done{
		Steps: r.loop.Step, Epochs: at.LastEpoch(), Examples: r.progress.epoch.before + r.progress.epoch.examples, Took: report.Seconds(took),
		ExamplesPerS: perSecond(t.allExamples, took), Loss: r.progress.epoch.mean(), Eval: r.eval.last, Digest: digest, Zeros: zerosOf(r.model.Variables()),
		ExportedBest: r.outputs.exportedBest,
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
	r.reporter.emit(d)
	if r.rank == 0 && r.data.Eval == nil && len(r.data.Evals) == 0 {
		r.reporter.notice(records.NoValidation + "; the losses above are of training records")
	}
	return nil
}

// awaitCache waits until a cache that the job asks for is complete. The records may have been read
// once before the cache was.
func (r *run) awaitCache() {
	if c := r.job.Input.Cache; c == convert.CacheAuto || c == convert.CacheOff {
		return
	}
	if whole := r.data.Train.Facts().Caching; whole != nil {
		r.team.Progress(r.loop.Step, "cache")
		select {
		case <-whole:
		case <-r.signals.any.Done():
		}
	}
}
