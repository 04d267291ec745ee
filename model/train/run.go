package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"ringtrain/input"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/job"
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
	team       Team
	rank       int
	loop       *Loop
	eval       evaluate.Evaluator
	extraEvals []evaluate.Evaluator // of input.evals
	steps      int64                // of the whole run, were it not to stop early; schedules and checkpoints use this number

	kernelSet kernel.Set // of all ranks

	fromPeer  bool // a living rank sent the state
	wasBehind bool // the received state was one step ahead of the state of this rank
	finished  bool // the checkpoint is of a finished job
	lowRank   lowRank
	badRank   int  // rank that read the first bad record of the epoch, −1 for none
	stopped   int  // exit code that the ranks agreed to stop with
	leaves    bool // this rank leaves while the others continue

	progressive *progressive // nil if the run does not report progressive validation, or no longer does
}

// newRun places the gradients in the group's arena. It builds the loop, except the parts that depend
// on the state.
func (t *Trainer) newRun(ctx context.Context, team Team) (*run, error) {
	if team.Progress == nil {
		team.Progress = func(int64, string) {}
	}
	if team.Cores == 0 {
		team.Cores = cores.Own()
	}
	team.Progress(t.progress.step, "restore")
	set, err := chosenKernels(t.job, team.Group.Membership())
	if err != nil {
		return nil, err
	}
	if _, ranks := team.Group.Membership().Local(); t.optimizer == nil {
		if err := t.checkMemory(ranks, t.largestPart(team.Group.Membership().Size())); err != nil {
			return nil, err
		}
	}
	if err := t.allocate(); err != nil {
		return nil, err
	}
	reducer, err := t.newReducer(ctx, team)
	if err != nil {
		return nil, err
	}
	bindGrads(t.model.Variables(), reducer)
	t.model.Use(set, team.Cores)
	r := &run{Trainer: t, team: team, rank: team.Group.Membership().Rank, kernelSet: set, badRank: -1}
	r.loop = &Loop{
		Model: t.model, Reducer: reducer, Group: team.Group,
		Seed: t.job.Train.Seed, CheckEvery: t.job.Train.CheckEvery, Request: r.request, After: r.after,
		Adjust: t.adjust(), Weights: newClassWeights(t.job.Train.ClassWeights), Parts: t.job.Train.Accumulate,
	}
	if t.averages != nil {
		r.loop.Updated = t.averages.update
	}
	r.eval = evaluate.Evaluator{Model: t.model, Data: t.data.Eval, Split: t.data.Split, TopK: t.job.Eval.TopK, MaxBad: records.MaxBad(t.job, t.data.Split), Load: t.loader.Load}
	for _, e := range t.evals {
		r.extraEvals = append(r.extraEvals, evaluate.Evaluator{Model: t.model, Data: e.Data, Split: "eval", Name: e.Files.Name, TopK: t.job.Eval.TopK})
	}
	return r, nil
}

// source opens the training records at a position.
func (r *run) source(ctx context.Context, at input.Position) (*input.Source, error) {
	m := r.team.Group.Membership()
	return input.NewSource(ctx, r.data.Train, input.SourceConfig{
		Batch: r.globalBatch(), Rank: m.Rank, Size: m.Size(),
		Shuffle: r.job.Input.Shuffle, Seed: r.job.Train.Seed, Prefetch: r.readAhead(),
		SumReduction: r.job.Loss.Sum(), MaxBad: r.job.Input.MaxBad, Readers: r.readers(),
	}, at)
}

// readAhead returns the number of batches that a goroutine reads ahead of the steps. It is 0 if reading
// never waits and the rank has one core: a second goroutine would only take turns on that core. See
// BenchmarkHandOver.
func (r *run) readAhead() int {
	if r.team.Cores == 1 && r.data.Train.Facts().InMemory {
		return 0
	}
	return r.job.Input.Prefetch
}

// readers returns the number of goroutines that read ahead: one for each core of the rank if lines of
// text are parsed, because parsing takes as long as a step of a small model.
func (r *run) readers() int {
	if r.data.Train.Facts().Blocks != nil {
		return r.team.Cores
	}
	return 1
}

// globalBatch returns the number of examples of a step over all ranks.
func (r *run) globalBatch() int { return r.job.GlobalBatch(r.team.Group.Membership().Size()) }

// close ends the goroutines of the run and releases the memory of the group.
func (r *run) close() {
	if r.loop.Source != nil {
		r.loop.Source.Close()
	}
	r.loop.Reducer.Close()
	r.saveLastRows()
	unbindGrads(r.model.Variables())
	r.model.Use(r.kernelSet, 1) // ends the other threads
	sent, between := r.team.Group.SentBytes()
	r.sent, r.sentBetween = r.sent+sent, r.sentBetween+between
}

// emit sends an event from rank 0, on behalf of all ranks.
func (r *run) emit(e report.Event) {
	if r.rank == 0 {
		r.Trainer.emit(e)
	}
}

func (t *Trainer) emit(e report.Event) {
	if t.opts.Trace != nil {
		t.opts.Trace(e)
	}
}

// request returns the requests of this rank for the end of the coming step. Only rank 0 asks for
// checkpoints and evaluations that are due, so their options may differ between ranks.
func (r *run) request() Request {
	r.wantsCheckpoint = r.opts.Checkpoint() || r.wantsCheckpoint
	q := Request{Stop: r.opts.Stop(), Depart: r.opts.Depart(), Checkpoint: r.wantsCheckpoint}
	q.Evaluate = r.loader.Fault() != nil // the evaluation fails on all ranks
	if r.rank != 0 {
		return q
	}
	next := r.loop.Step + 1
	due := r.job.Checkpoint.Dir != "" && r.job.Checkpoint.Every.Due(next, time.Since(r.savedAt))
	q.Checkpoint, q.Saved = q.Checkpoint || due, r.saved.step == r.loop.Step
	q.Evaluate = q.Evaluate || r.job.Eval.Every.Due(next, time.Since(r.evaluatedAt))
	return q
}

// after records a completed step and carries out the agreed requests.
func (r *run) after(ctx context.Context, a Agreed) (bool, error) {
	r.progress.step, r.progress.position, r.progress.mix, r.agreed = r.loop.Step, r.loop.Source.Position(), r.loop.Mix, a
	r.progress.epoch.add(a)
	if a.Saved {
		r.progress.saved = r.loop.Step - 1
	}
	if err := r.checkBadRecords(); err != nil {
		return false, err
	}
	r.wantsCheckpoint = r.wantsCheckpoint && !a.Checkpoint
	if err := r.reportProgressive(ctx); err != nil {
		return false, err
	}
	r.reportPhase()
	r.measureAchieved(r.ending())
	r.countStep()
	r.reportTableRoute()
	if !r.ending() && !a.Depart {
		if err := r.warmUp(ctx); err != nil {
			return false, err
		}
		if err := r.startLowRank(ctx); err != nil {
			return false, err
		}
	}
	if r.choice.warmupLeft == 0 { // no step is timed any more
		r.loader.Start()
	}
	if err := r.checkOwnership(); err != nil {
		return false, err
	}
	return r.carryOut(ctx)
}

// ending reports whether no step follows the last one.
func (r *run) ending() bool { return r.loop.Step >= r.loop.Steps || r.agreed.Stop != 0 }

// countStep adds the last step to the tracker, and reports if a report is due.
func (r *run) countStep() {
	r.tracker.add(r.agreed, r.loop.last)
	if r.rank == 0 && r.tracker.due(r.job.Log.Every, r.loop.Step, r.ending()) {
		r.report()
	}
}

// report reports the steps since the last report.
func (r *run) report() {
	e := r.tracker.event(r.loop)
	e.Objective = r.objective(e.Loss)
	r.emit(e)
	r.summarizeStep(e)
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
	case a.Depart:
		return false, r.depart(ctx)
	case !a.Evaluate && !a.Checkpoint:
		return true, nil
	}
	if a.Evaluate {
		if err := r.evaluate(ctx, r.loop.Step, r.loop.Source.Position().LastEpoch()); err != nil && !r.toleratesEvaluation(err) {
			return false, err
		}
		a.Evaluate = false
	}
	if r.loop.Step >= r.loop.Steps { // early stopping ends the run
		return true, nil
	}
	if a.Checkpoint {
		if r.rank == 0 && r.folder == nil {
			r.opts.Notice("a checkpoint was requested but not saved: the job has no checkpoint.dir")
		}
		if _, err := r.checkpoint(ctx, false); err != nil && !r.toleratesCheckpoint(err) {
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
	if r.choice.warmupLeft > 0 {
		phase = "warm-up"
	}
	r.team.Progress(r.loop.Step, phase)
}

// evaluate reports the metrics of the current variables, those after a step. If the loss is not finite,
// the last update may have made the variables so; they must not be saved or exported.
func (r *run) evaluate(ctx context.Context, step, epoch int64) error {
	r.team.Progress(r.loop.Step, "evaluate")
	var m report.Metrics
	var others []report.Metrics
	var broken error // of input.evals; the other metrics are still reported
	err := r.averages.with(r.job.Train.Average.Evaluate, func() (err error) {
		if m, err = r.eval.Run(ctx, r.team.Group); err != nil {
			return err
		}
		others, err = r.evaluateExtra(ctx)
		if _, ok := errors.AsType[evaluate.Failure](err); ok {
			broken, err = err, nil
		}
		return err
	})
	r.evaluatedAt = time.Now() // also after a failure: the next interval tries again
	if failed, ok := errors.AsType[evaluate.Failure](errors.Join(err, broken)); ok {
		failed.Step = r.loop.Step
	}
	if err != nil {
		return err
	}
	m.Step, m.Epoch = step, epoch
	reported := r.lastEvalStep == m.Step // in the generation before
	r.lastMetrics, r.lastEvalStep = m, m.Step
	for _, e := range append([]report.Metrics{m}, others...) {
		e.Step, e.Epoch = step, epoch
		if !reported {
			r.emit(e)
		}
		if !reported && step == r.loop.Step { // an earlier step has its points
			r.summarizeEval(e)
		}
	}
	r.tellAbsent("input."+m.Split, &r.eval.Seen)
	for i := range others {
		r.tellAbsent(job.EvalKey(others[i].Name, i), &r.extraEvals[i].Seen)
	}
	r.observe(m)
	r.saveEvaluation()
	if loss := float64(m.Loss); math.IsNaN(loss) || math.IsInf(loss, 0) {
		return &ring.Cause{
			Rank: -1, Step: m.Step, Operation: "evaluate", ExitCode: exitcode.NotFinite,
			Text: fmt.Sprintf("loss on the %s records is not finite; %s", m.Split, notFiniteAdvice),
		}
	}
	return broken
}

// result returns the progress of the run.
func (r *run) result() Result {
	res := r.reached()
	res.Stopped = r.stopped
	return res
}

// evaluateExtra evaluates the items of input.evals in their order, up to the first failure.
func (r *run) evaluateExtra(ctx context.Context) ([]report.Metrics, error) {
	var all []report.Metrics
	for i := range r.extraEvals {
		m, err := r.extraEvals[i].Run(ctx, r.team.Group)
		if failed, ok := errors.AsType[evaluate.Failure](err); ok {
			failed.Text = job.EvalKey(r.extraEvals[i].Name, i) + ": " + failed.Text
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}
