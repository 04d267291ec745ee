package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/kernel"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// run is one rank of a job that trains, in one generation.
type run struct {
	*Trainer
	team      Team
	rank      int
	signals   signals
	loop      *Loop
	tuner     tuner
	kernelSet kernel.Set // of all ranks
	steps     int64      // of the whole run, were it not to stop early; schedules and checkpoints use this number

	fromPeer bool // a living rank sent the state
	finished bool // the checkpoint is of a finished job
	badRank  int  // rank that read the first bad record of the epoch, −1 for none
	stopped  int  // exit code that the ranks agreed to stop with
	leaves   bool // this rank leaves while the others continue

	progressive *progressive // nil if the run does not report progressive validation, or no longer does
}

// newRun places the gradients in the group's arena. It builds the loop, except the parts that depend
// on the state.
func (t *Trainer) newRun(ctx context.Context, team Team) (*run, error) {
	if team.Progress == nil {
		team.Progress = func(int64, string) {}
	}
	if team.Reached == nil {
		team.Reached = func() bool { return true }
	}
	team.Keys = team.Keys.orUsual()
	if team.Cores == 0 {
		team.Cores = cores.Own()
	}
	team.Progress(t.progress.step, "restore")
	m := team.Group.Membership()
	if m.Rank == 0 {
		t.reporter.workers = m.Workers
	}
	offered := t.job.KernelSets() // without a choice, as at world size 1, the highest of this rank
	set, err := kernel.ParseSet(cmp.Or(m.Choice(KernelsChoice).Value, offered[len(offered)-1]))
	if err != nil {
		return nil, err
	}
	if _, ranks := m.Local(); t.optimizer == nil {
		if err := t.checkMemory(ranks, t.largestPart(m.Size())); err != nil {
			return nil, err
		}
	}
	if err := t.allocate(t.job); err != nil {
		return nil, err
	}
	reducer, err := t.newReducer(ctx, team)
	if err != nil {
		return nil, err
	}
	vars := t.model.Variables()
	bindGrads(vars, reducer)
	t.model.Use(set, team.Cores)
	r := &run{Trainer: t, team: team, rank: m.Rank, kernelSet: set, badRank: -1}
	r.tuner = tuner{codecChoice: &t.choice, config: t.job.AllReduce, group: team.Group, reducer: reducer, vars: vars, seed: t.job.Train.Seed, cores: team.Cores}
	r.loop = &Loop{
		Model: t.model, Reducer: reducer, Group: team.Group,
		Seed: t.job.Train.Seed, CheckEvery: t.job.Train.CheckEvery, Request: r.request, After: r.after,
		Adjust: t.adjust(), Weights: newClassWeights(t.job.ClassWeights()), Parts: t.job.Train.Accumulate,
	}
	if t.averages != nil {
		r.loop.Updated = t.averages.update
	}
	return r, nil
}

// source opens the training records at a position.
func (r *run) source(ctx context.Context, at input.Position) (*input.Source, error) {
	m, facts, readers := r.team.Group.Membership(), r.data.Train.Facts(), 1
	if facts.Blocks != nil {
		readers = r.team.Cores // parsing of lines takes as long as a step of a small model
	}
	return input.NewSource(ctx, r.data.Train, input.SourceConfig{
		Batch: r.globalBatch(), Rank: m.Rank, Size: m.Size(),
		Shuffle: r.job.Input.Shuffle, Seed: r.job.Train.Seed, Prefetch: readAhead(r.job, facts, r.team.Cores),
		SumReduction: r.job.Loss.Sum(), MaxBad: r.job.Input.MaxBad, Readers: readers,
	}, at)
}

// readAhead returns the number of batches that a goroutine reads ahead of the steps. It is 0 if reading
// never waits and the rank has one core: a second goroutine would only take turns on that core. See
// BenchmarkHandOver.
func readAhead(cfg *job.Config, data input.Facts, cores int) int {
	if cores == 1 && data.InMemory {
		return 0
	}
	return cfg.Input.Prefetch
}

// globalBatch returns the number of examples of a step over all ranks.
func (r *run) globalBatch() int { return r.job.GlobalBatch(r.team.Group.Membership().Size()) }

// close ends the goroutines of the run and releases the memory of the group.
func (r *run) close() {
	if r.loop.Source != nil {
		r.loop.Source.Close()
	}
	r.loop.Reducer.Close()
	r.keepRows(r.loop)
	for _, v := range r.model.Variables() { // before the memory is released with the group
		v.Grad, v.RowGrad, v.RowStride = nil, nil, 0
	}
	r.model.Use(r.kernelSet, 1) // ends the other threads
	sent, between := r.team.Group.SentBytes()
	r.sent, r.sentBetween = r.sent+sent, r.sentBetween+between
}

// request returns the requests of this rank for the end of the coming step. Only rank 0 asks for
// checkpoints and evaluations that are due, so their options may differ between ranks.
func (r *run) request() Request {
	r.wantsCheckpoint = r.opts.Checkpoint() || r.wantsCheckpoint
	now := time.Now()
	q := Request{Stop: r.signals.stopCode(), Checkpoint: r.wantsCheckpoint, Memory: r.memory.read(now)}
	q.Evaluate = r.eval.loader.Fault() != nil // the evaluation fails on all ranks
	sent := r.team.Group.KeyBytes()
	q.OldKeys, q.WornKeys, q.Unreached = sent >= r.team.Keys.Renew, sent >= r.team.Keys.End, !r.team.Reached()
	if r.rank != 0 {
		return q
	}
	next := r.loop.Step + 1
	due := r.job.Checkpoint.Dir != "" && r.job.Checkpoint.Every.Due(next, now.Sub(r.outputs.savedAt))
	q.Checkpoint, q.Saved = q.Checkpoint || due, r.outputs.saved.step == r.loop.Step
	q.Evaluate = q.Evaluate || r.job.Eval.Every.Due(next, now.Sub(r.eval.at))
	return q
}

// after records a completed step and carries out the agreed requests.
func (r *run) after(ctx context.Context, a Agreed) (bool, error) {
	p := &r.progress
	p.step, p.position, p.mix, r.agreed = r.loop.Step, r.loop.Source.Position(), r.loop.Mix, a
	p.epoch.add(a)
	if a.Saved {
		p.saved = r.loop.Step - 1
	}
	r.reporter.step = p.step
	if err := r.checkBadRecords(); err != nil {
		return false, err
	}
	r.wantsCheckpoint = r.wantsCheckpoint && !a.Checkpoint
	if err := r.reportProgressive(ctx); err != nil {
		return false, err
	}
	r.reportPhase()
	r.reporter.decide(r.tuner.achieved(r.loop.last, r.ending()))
	r.countStep()
	r.reporter.reportRoute(r.loop, r.tableRows())
	if !r.ending() {
		if err := r.tune(ctx); err != nil {
			return false, err
		}
	}
	if r.tuner.warmupLeft == 0 { // no step is timed any more
		r.eval.loader.Start()
	}
	if err := r.outputs.checkOwnership(); err != nil {
		return false, err
	}
	goOn, err := r.carryOut(ctx)
	if err == nil && goOn {
		err = r.renewKeys(ctx)
	}
	return goOn, err
}

// tune chooses the codec of the next step.
func (r *run) tune(ctx context.Context) error {
	id, err := r.tuner.warmUp(ctx, r.loop)
	if err != nil {
		return err
	}
	if id != 0 {
		r.progress.codec = id
		r.reportPhase()
	}
	return r.tuner.startLowRank(ctx, r.loop.Step, r.finished)
}

// ending reports whether no step follows the last one.
func (r *run) ending() bool { return r.loop.Step >= r.loop.Steps || r.agreed.Stop != 0 }

// countStep adds the last step to the tracker, and reports what is due.
func (r *run) countStep() {
	r.reporter.tracker.add(r.agreed, r.loop.last)
	r.tellSteps()
}

// tellSteps reports, on rank 0, the steps and the loads of the ranks that are due.
func (r *run) tellSteps() {
	if r.rank != 0 {
		return
	}
	t := &r.reporter.tracker
	now, last, every := time.Now(), r.ending(), r.job.Log.Every
	due := t.lineDue(every, r.loop.Step, now, last)
	if due || t.pointDue(now, last) {
		e := t.event(r.loop, now, due)
		if due {
			e.Objective = r.penalty().objective(*e.Due, r.model.Variables(), r.job.Loss.Sum(), r.globalBatch())
		}
		r.reporter.emit(e)
	}
	ranks := t.ranksDue(now, last)
	if due || ranks && every == (job.Every{}) {
		t.endLine(r.loop, now)
	}
	if ranks {
		r.reporter.emit(t.ranks(r.loop, now))
	}
}

// carryOut carries out the requests that the ranks agreed on after the last step and that are not done
// yet. It returns false if no further step follows in this generation.
func (r *run) carryOut(ctx context.Context) (goOn bool, err error) {
	if err := r.countTraining(ctx); err != nil {
		return false, err
	}
	a := &r.agreed
	switch {
	case r.loop.Step >= r.loop.Steps:
		return true, nil // finish evaluates and saves
	case a.Stop != 0:
		r.stopped = a.Stop
		return false, nil
	case r.signals.leaves():
		r.leaves = true
		return false, nil
	case !a.Evaluate && !a.Checkpoint:
		return true, nil
	}
	if a.Evaluate {
		if err := r.evaluate(r.loop.Step, r.loop.Source.Position().LastEpoch()); err != nil && !r.reporter.tolerates(err) {
			return false, err
		}
		a.Evaluate = false
	}
	if r.loop.Step >= r.loop.Steps { // early stopping ends the run
		return true, nil
	}
	if a.Checkpoint {
		if r.rank == 0 && r.outputs.folder == nil {
			r.reporter.notice("a checkpoint was requested but not saved: the job has no checkpoint.dir")
		}
		if _, err := r.checkpoint(ctx, false); err != nil && !r.reporter.tolerates(err) {
			return false, err
		}
		a.Checkpoint = r.rank != 0 // only rank 0 knows that the checkpoint is written
	}
	r.reportPhase()
	return true, nil
}

// reportPhase announces that steps follow.
func (r *run) reportPhase() {
	phase := "train"
	if r.tuner.warmupLeft > 0 {
		phase = "warm-up"
	}
	r.team.Progress(r.loop.Step, phase)
}

// evaluate reports the metrics of the current variables, those after a step, if there are records to evaluate. If the loss is not finite,
// the last update may have made the variables so; they must not be saved or exported.
func (r *run) evaluate(step, epoch int64) error {
	if r.data.Eval == nil && len(r.data.Evals) == 0 {
		return nil
	}
	r.team.Progress(r.loop.Step, "evaluate")
	var all []report.Metrics
	err := r.averages.with(r.job.Train.Average.Evaluate, func() (err error) {
		all, err = r.eval.run(r.signals.alone, r.signals.any, r.team.Group)
		return err
	})
	failed, ok := errors.AsType[evaluate.Failure](err)
	if ok {
		failed.Step = r.loop.Step
	}
	if len(all) == 0 || err != nil && !ok { // the metrics before a failure are still reported
		return err
	}
	reported := r.eval.lastStep == step // in the generation before
	for i := range all {
		e := &all[i]
		e.Step, e.Epoch = step, epoch
		if !reported {
			r.reporter.emit(*e)
		}
	}
	r.eval.lastStep = step
	others := all
	if r.data.Eval != nil {
		others = all[1:]
	}
	for i, e := range others {
		r.reporter.tellAbsent(job.EvalKey(e.Name, i), r.data.Plan, &r.eval.others[i].Seen)
	}
	if r.data.Eval == nil {
		return err
	}
	m := all[0]
	r.eval.last = &m
	r.reporter.tellAbsent(records.KeyOf(r.job, m.Split), r.data.Plan, &r.eval.main.Seen)
	r.observe(m)
	r.saveEvaluation()
	if loss := float64(m.Loss); math.IsNaN(loss) || math.IsInf(loss, 0) {
		return &ring.Cause{
			Rank: -1, Step: step, Operation: "evaluate", ExitCode: exitcode.NotFinite,
			Text: fmt.Sprintf("loss on the %s records is not finite; %s", m.Split, notFiniteAdvice),
		}
	}
	return err
}

// result returns the progress of the run.
func (r *run) result() Result {
	res := r.reached()
	res.Stopped = r.stopped
	return res
}
