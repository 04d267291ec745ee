package train

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
	"ringtrain/ring/phrase"
)

// setUp brings all ranks to the same state and reports the start.
func (r *run) setUp(ctx context.Context) error {
	if err := r.openOutputs(r.signals.any); err != nil {
		return err
	}
	behind, err := r.sync(r.signals.any)
	if err != nil {
		return err
	}
	if err := r.configureLoop(ctx); err != nil {
		return err
	}
	if r.rank == 0 {
		if err := r.reporter.curves.open(r.job.Summary.Dir, r.progress.step+1); err != nil {
			return err
		}
		r.reporter.openHistory(r.job, r.outputs.folder, r.opts.Past)
	}
	known, notice, err := r.tuner.start(r.signals.any, r.progress, r.steps, r.finished)
	if err != nil {
		return err
	}
	if notice != "" && r.rank == 0 {
		r.reporter.notice(notice)
	}
	r.reportGeneration()
	r.reportStart()
	r.reportSchedule()
	r.reporter.reportKernels(r.team.Group.Membership(), r.kernelSet.String(), r.progress.step, r.finished)
	if !known && !r.finished {
		r.reporter.decide(r.tuner.take())
	}
	if behind {
		r.countStep()
	}
	r.reportPhase()
	return nil
}

// sync brings the replica to the state of all ranks. Behind reports whether it had the state of the step
// before.
func (r *run) sync(ctx context.Context) (behind bool, err error) {
	x := transfer{
		group: r.team.Group, replica: &r.replica, rowWidth: r.loop.Reducer.RowWidth(), seed: r.job.Train.Seed, compares: r.loop.CheckEvery > 0,
	}
	r.fromPeer, behind, err = x.sync(ctx, r.restore)
	if err != nil && !r.hasState {
		r.optimizer = nil // its slots may be half received
	}
	if behind {
		r.wantsCheckpoint = false
	}
	return behind, err
}

// configureLoop sets the loop to the progress of the ranks.
func (r *run) configureLoop(ctx context.Context) error {
	p, l := r.progress, r.loop
	var err error
	if l.Source, err = r.source(ctx, p.position); err != nil {
		return err
	}
	r.reporter.step = p.step
	l.Step, l.Optimizer, l.Mix = p.step, r.optimizer, p.mix
	l.Steps = p.end(r.job.Train, r.data.Train.Facts().Records, r.globalBatch())
	r.steps = l.Steps
	if p.best.ends(r.job.Train.EarlyStopping) {
		l.Steps = min(l.Steps, p.step)
	}
	r.outputs.pin(p.best.step)
	if l.Schedule, err = optimizer.NewSchedule(r.job.Schedule, r.job.Optimizer.Rate(), r.steps); err != nil {
		return err
	}
	if r.job.Eval.Progressive && p.position.Epoch == 0 {
		r.progressive = newProgressive(r.model, p.epoch, r.globalBatch())
		l.OnScores = r.progressive.addScores
	}
	r.finished = p.restored && p.step >= l.Steps
	r.progress.restored = r.finished
	return nil
}

// reportGeneration reports a generation that follows another one. Residuals of a codec belong to the
// group that is gone.
func (r *run) reportGeneration() {
	m := r.team.Group.Membership()
	if r.team.Cause == nil {
		return
	}
	e := report.Generation{
		Generation: m.Generation, WorldSize: m.Size(), Lost: append([]int{}, r.team.Lost...), Cause: r.team.Cause.Error(),
		RestoredStep: r.progress.step, StepsRepeated: max(r.team.Cause.Step-r.progress.step, 0), Forgotten: !r.fromPeer,
	}
	if c, rank, err := (job.AllReduce{Codec: job.Codec(r.tuner.codec)}).ParseCodec(); err == nil && (c.Lossy() || rank > 0) && r.job.AllReduce.ErrorFeedback {
		e.Residuals = r.tuner.codec
	}
	r.reporter.emit(e)
}

// reportStart starts the clocks. It reports once that this process trains.
func (r *run) reportStart() {
	now := time.Now()
	if r.reporter.tracker.startedAt.IsZero() {
		r.outputs.savedAt, r.eval.at = now, now
	}
	r.reporter.tracker.start(now)
	if !r.reporter.start(r.startEvent()) {
		return
	}
	for _, text := range r.startNotices() {
		r.reporter.notice(text)
	}
	if r.job.Export.SavedModel != "" && r.data.Plan != nil {
		r.data.Plan.Narrow(func(what string) { r.reporter.warnOf("export", what) })
	}
	r.reporter.tellUndivided(&r.data, r.job.Input.Split.By)
	for _, w := range r.data.Strange {
		w.Host, w.Step = r.reporter.workers[0].Host, r.reporter.step
		r.reporter.emit(w)
	}
	if r.finished {
		r.reporter.notice(fmt.Sprintf("finished at step %d: nothing to train", r.progress.step))
	}
}

// reportSchedule reports, on rank 0, that the schedule has another length than when the state was
// saved. It warns once of steps whose rate is 0.
func (r *run) reportSchedule() {
	c, was := r.job.Schedule, r.progress.steps
	r.progress.steps = r.steps
	if r.rank != 0 || r.finished {
		return
	}
	if c.UsesLength() && was != 0 && was != r.steps {
		r.reporter.notice(fmt.Sprintf("schedule %s over %d steps, was %d", c.Kind, r.steps, was))
	}
	if !c.UsesLength() && !r.reporter.zeroRate && r.loop.Schedule.Rate(r.steps-1) == 0 {
		r.reporter.zeroRate = true
		r.reporter.warnOf("schedule", fmt.Sprintf("schedule %s ends before the run (schedule.steps is %d): the rate of the last of %d steps is 0, and such steps train nothing",
			c.Kind, c.Steps, r.steps))
	}
}

// startEvent returns the event that describes the run.
func (r *run) startEvent() report.Start {
	m := r.team.Group.Membership()
	parameters := 0
	for _, v := range r.model.Variables() {
		parameters += v.Len()
	}
	algorithm := string(r.job.AllReduce.Algorithm)
	if g := r.team.Group; m.Size() == 1 || g.Levels() == "host" {
		algorithm = "none" // nothing goes over links
	}
	e := report.Start{
		Job: r.job.Name, JobID: m.JobID, Version: r.opts.Version, WorldSize: m.Size(), Hosts: m.Hosts(),
		Generation: m.Generation, Rendezvous: r.team.Rendezvous, Codec: r.tuner.codec, Link: r.team.Link,
		Levels: r.team.Group.Levels(), Algorithm: algorithm, Seed: r.job.Train.Seed, GlobalBatch: r.globalBatch(),
		Variables: len(r.model.Variables()), Parameters: parameters, RestoredStep: r.progress.step,
		Cores: r.team.Cores, Kernels: r.kernelSet.String(),
		Model: cmp.Or(string(r.job.Model.Kind), phrase.Count(len(r.job.Model.Layers), "layer")), Records: int64(r.data.Train.Facts().Records),
		Steps: r.steps, CheckpointDir: r.job.Checkpoint.Dir, Options: r.job.Changed(),
	}
	if r.job.Train.Steps == 0 {
		e.Epochs = int64(r.job.Train.Epochs)
	}
	if r.data.Eval != nil {
		e.EvalRecords = int64(r.data.Eval.Facts().Records)
	}
	return e
}
