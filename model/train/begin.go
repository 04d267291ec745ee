package train

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// begin brings all ranks to the same state, and says so.
func (r *run) setUp(ctx context.Context) error {
	if err := r.openOutputs(ctx); err != nil {
		return err
	}
	if err := r.syncState(ctx); err != nil {
		if !r.hasState {
			r.optimizer = nil // nobody knows what its slots hold
		}
		return err
	}
	if err := r.configureLoop(); err != nil {
		return err
	}
	if err := r.openSummary(); err != nil {
		return err
	}
	told, err := r.chooseInitialCodec(ctx)
	if err != nil {
		return err
	}
	r.reportStart()
	r.reportKernels()
	r.recordOrder()
	if !told {
		r.emitChoice()
	}
	if r.wasBehind {
		r.countStep()
	}
	r.reportPhase()
	return nil
}

// set sets the loop to where the ranks are.
func (r *run) configureLoop() error {
	o, l := r.progress, r.loop
	var err error
	if l.Source, err = r.source(o.position); err != nil {
		return err
	}
	l.Step, l.Optimizer, l.Mix = o.step, r.optimizer, o.mix
	l.Steps = o.end(r.job.Train, r.data.Train.Len(), r.globalBatch())
	r.steps = cmp.Or(o.steps, l.Steps)
	if o.best.ends(r.job.Train.EarlyStopping) {
		l.Steps = min(l.Steps, o.step)
	}
	if r.folder != nil {
		r.folder.Pin(o.best.step)
	}
	if l.Schedule, err = optimizer.NewSchedule(r.job.Schedule, r.job.Optimizer.Rate(), r.steps); err != nil {
		return err
	}
	if r.progressive = r.newProgressive(); r.progressive != nil {
		l.OnScores = r.progressive.addScores
	}
	r.finished = o.restored && o.step >= l.Steps
	r.progress.restored, r.progress.steps = r.finished, r.steps
	return nil
}

// settle finds the codec that the generation begins with. Told is whether it is
// the one of the generation before, so that there is nothing new to tell.
func (r *run) chooseInitialCodec(ctx context.Context) (told bool, err error) {
	before := r.choice
	r.choice = codecChoice{}
	err = r.initialCodec(ctx, r.progress)
	told = r.choice.warmupLeft == 0 && r.choice.codec == before.codec && r.choice.stored == before.stored
	if told || err != nil {
		r.choice = before
	}
	return told, err
}

// tellStart starts the clocks, and tells once that this process trains.
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
	r.noticeAllRows()
	if r.finished {
		r.opts.Notice(fmt.Sprintf("finished at step %d: nothing to train", r.progress.step))
	}
}

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

// algorithm is the table that the job's option stands for among those that
// exchange over links: all ranks, or on two levels one rank of each host. By
// size where auto is more than one; none where nothing goes over links.
func (r *run) algorithm() string {
	a, err := ring.ParseAlgorithms(r.job.AllReduce.Algorithm)
	m, levels := r.team.Group.Membership(), r.team.Group.Levels()
	switch {
	case err != nil || m.Size() == 1 || levels == "host":
		return "none"
	case levels == "two":
		m, _ = m.Across()
	}
	return a.Of(m.Spread()).String()
}
