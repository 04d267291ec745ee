package train

import (
	"context"
	"fmt"
	"time"

	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
)

// setUp brings all ranks to the same state and reports the start.
func (r *run) setUp(ctx context.Context) error {
	if err := r.openOutputs(ctx); err != nil {
		return err
	}
	if err := r.syncState(ctx); err != nil {
		if !r.hasState {
			r.optimizer = nil // its slots may be half received
		}
		return err
	}
	if err := r.configureLoop(ctx); err != nil {
		return err
	}
	if err := r.openSummary(); err != nil {
		return err
	}
	known, err := r.chooseInitialCodec(ctx)
	if err != nil {
		return err
	}
	r.reportGeneration()
	r.reportStart()
	r.reportSchedule()
	r.reportKernels()
	if !known {
		r.emitChoice()
	}
	if r.wasBehind {
		r.countStep()
	}
	r.reportPhase()
	return nil
}

// configureLoop sets the loop to the progress of the ranks.
func (r *run) configureLoop(ctx context.Context) error {
	p, l := r.progress, r.loop
	var err error
	if l.Source, err = r.source(ctx, p.position); err != nil {
		return err
	}
	l.Step, l.Optimizer, l.Mix = p.step, r.optimizer, p.mix
	l.Steps = p.end(r.job.Train, r.data.Train.Facts().Records, r.globalBatch())
	r.steps = l.Steps
	if p.best.ends(r.job.Train.EarlyStopping) {
		l.Steps = min(l.Steps, p.step)
	}
	if r.folder != nil {
		r.folder.Pin(p.best.step)
	}
	if l.Schedule, err = optimizer.NewSchedule(r.job.Schedule, r.job.Optimizer.Rate(), r.steps); err != nil {
		return err
	}
	if r.progressive = r.newProgressive(); r.progressive != nil {
		l.OnScores = r.progressive.addScores
	}
	r.finished = p.restored && p.step >= l.Steps
	r.progress.restored = r.finished
	return nil
}

// chooseInitialCodec chooses the codec of the first step of this generation. Known reports whether it
// is the codec of the generation before, so there is nothing new to report.
func (r *run) chooseInitialCodec(ctx context.Context) (known bool, err error) {
	before := r.choice
	r.choice = codecChoice{}
	err = r.initialCodec(ctx, r.progress)
	known = r.choice.warmupLeft == 0 && r.choice.codec == before.codec && r.choice.stored == before.stored
	if known || err != nil {
		r.choice = before
	}
	return known, err
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
	if c, rank, err := (job.AllReduce{Codec: r.choice.codec}).ParseCodec(); err == nil && (c.Lossy() || rank > 0) && r.job.AllReduce.ErrorFeedback {
		e.Residuals = r.choice.codec
	}
	r.emit(e)
}

// reportStart starts the clocks. It reports once that this process trains.
func (r *run) reportStart() {
	if r.tracker.startedAt.IsZero() {
		now := time.Now()
		r.savedAt, r.evaluatedAt = now, now
		r.tracker.start(now)
	}
	if r.rank != 0 || r.startReported {
		return
	}
	r.startReported = true
	r.emit(r.startEvent())
	for _, c := range r.earlyWarnings {
		r.warn(c)
	}
	for _, text := range r.repeated {
		r.opts.Notice(text)
	}
	r.noticeAllRows()
	r.noticeMissing()
	if r.job.Export.SavedModel != "" && r.data.Plan != nil {
		r.data.Plan.Narrow(func(what string) { r.warnFromStart("export", what) })
	}
	if r.finished {
		r.opts.Notice(fmt.Sprintf("finished at step %d: nothing to train", r.progress.step))
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
		r.opts.Notice(fmt.Sprintf("schedule %s over %d steps, was %d", c.Kind, r.steps, was))
	}
	if !c.UsesLength() && !r.zeroRateReported && r.loop.Schedule.Rate(r.steps-1) == 0 {
		r.zeroRateReported = true
		r.warnFromStart("schedule", fmt.Sprintf("schedule %s ends before the run (schedule.steps is %d): the rate of the last of %d steps is 0, and such steps train nothing",
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
	return report.Start{
		Job: r.job.Name, JobID: m.JobID, Version: r.opts.Version, WorldSize: m.Size(), Hosts: m.Hosts(),
		Generation: m.Generation, Rendezvous: r.team.Rendezvous, Codec: r.choice.codec, Link: r.team.Link,
		Levels: r.team.Group.Levels(), Algorithm: r.algorithm(), Seed: r.job.Train.Seed, GlobalBatch: r.globalBatch(),
		Variables: len(r.model.Variables()), Parameters: parameters, RestoredStep: r.progress.step,
		Cores: r.team.Cores, Kernels: r.kernelSet.String(),
	}
}

// algorithm returns allreduce.algorithm, or "none" if nothing goes over links.
func (r *run) algorithm() string {
	if g := r.team.Group; g.Membership().Size() == 1 || g.Levels() == "host" {
		return "none"
	}
	return r.job.AllReduce.Algorithm
}
