package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"ringtrain/input"
	"ringtrain/model/optimizer"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

// run is one rank of a job in training.
type run struct {
	*Trainer
	team  Team
	rank  int
	loop  *Loop
	eval  Evaluator
	steps int64 // of the whole run as first started: what schedules and checkpoints know

	restored int64 // step of the checkpoint, 0 if fresh
	finished bool  // the checkpoint is of a finished job
	choice   choice
	lowRank  lowRank
	stopped  int // exit code that the ranks agreed to stop with
	tracker  tracker
	last     Metrics // of the last evaluation
	lastStep int64   // step of the last evaluation, -1 for none

	savedAt, evaluatedAt time.Time // for .every given as durations
}

// newRun places the model in the group's arena and builds the loop, but for
// what depends on the restored state.
func (t *Trainer) newRun(ctx context.Context, team Team) (*run, error) {
	m := team.Group.Membership()
	if team.Progress == nil {
		team.Progress = func(int64, string) {}
	}
	if team.Cores == 0 {
		team.Cores = runtime.GOMAXPROCS(0)
	}
	now := time.Now()
	r := &run{Trainer: t, team: team, rank: m.Rank, savedAt: now, evaluatedAt: now, lastStep: -1}
	reducer, err := t.newReducer(ctx, team)
	if err != nil {
		return nil, err
	}
	vars := t.model.Variables()
	place(vars, reducer)
	opt, err := optimizer.New(t.job.Optimizer, vars)
	if err != nil {
		reducer.Close()
		return nil, err
	}
	r.loop = &Loop{
		Model: t.model, Reducer: reducer, Optimizer: opt, Group: team.Group,
		CheckEvery: t.job.Train.CheckEvery, Request: r.request, After: r.after,
	}
	r.eval = Evaluator{Model: t.model, Data: t.data.eval, Split: t.data.split}
	return r, nil
}

func (t *Trainer) newReducer(ctx context.Context, team Team) (*bucket.Reducer, error) {
	c := bucket.Config{ErrorFeedback: t.job.AllReduce.ErrorFeedback, BucketBytes: int(t.job.AllReduce.Bucket)}
	if t.job.AllReduce.Codec == auto {
		c.CodedBytes = cost.WorthBytes
	}
	var err error
	if c.Codec, _, err = t.job.AllReduce.parseCodec(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return bucket.NewReducer(ctx, team.Group, bucketVariables(t.model.Variables()), c)
}

// source opens the training records at a position.
func (r *run) source(at input.Position) (*input.Source, error) {
	m := r.team.Group.Membership()
	return input.NewSource(r.data.train, input.SourceConfig{
		Batch: r.globalBatch(), Rank: m.Rank, Size: m.Size(),
		Shuffle: r.job.Input.Shuffle, Seed: r.job.Train.Seed, Prefetch: r.job.Input.Prefetch,
		SumReduction: r.job.Loss.Sum(),
	}, at)
}

// globalBatch is the number of examples of a step over all ranks.
func (r *run) globalBatch() int {
	if n := r.job.Input.LocalBatch; n > 0 {
		return n * r.team.Group.Membership().Size()
	}
	return r.job.Input.Batch
}

// close ends the goroutines of the run.
func (r *run) close() {
	if r.loop.Source != nil {
		r.loop.Source.Close()
	}
	r.loop.Reducer.Close()
}

// begin restores or initialises the state, the same on all ranks, and says so.
func (r *run) begin(ctx context.Context) error {
	r.team.Progress(0, "restore")
	o, err := r.state(ctx)
	if err != nil {
		return err
	}
	if r.loop.Source, err = r.source(o.position); err != nil {
		return err
	}
	r.loop.Step, r.restored = o.step, o.step
	r.loop.Steps = o.end(r.job.Train, r.data.train.Len(), r.globalBatch())
	r.steps = cmp.Or(o.steps, r.loop.Steps)
	if r.loop.Schedule, err = optimizer.NewSchedule(r.job.Schedule, r.job.Optimizer.Rate(), r.steps); err != nil {
		return err
	}
	r.finished = o.found && o.step >= r.loop.Steps
	if err := r.settleCodec(ctx, o); err != nil {
		return err
	}
	r.emit(r.startEvent())
	if r.finished && r.rank == 0 {
		r.opts.Notice(fmt.Sprintf("finished at step %d: nothing to train", o.step))
	}
	r.emitSettled()
	r.tracker.start()
	return nil
}

func (r *run) startEvent() Start {
	m := r.team.Group.Membership()
	parameters := 0
	for _, v := range r.model.Variables() {
		parameters += v.Len()
	}
	return Start{
		Job: r.job.Name, JobID: m.JobID, Version: r.opts.Version, WorldSize: m.Size(), Hosts: m.Hosts(),
		Generation: m.Generation, Rendezvous: r.team.Rendezvous, Codec: r.choice.codec, Link: r.team.Link,
		Levels: r.team.Group.Levels(), Algorithm: r.algorithm(), Seed: r.job.Train.Seed, GlobalBatch: r.globalBatch(),
		Variables: len(r.model.Variables()), Parameters: parameters, RestoredStep: r.restored,
		Cores: r.team.Cores,
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
		return a.Of(m.Hosts()).String()
	}
	return a.Of(m.Size()).String()
}

// emit sends an event from rank 0, which speaks for all.
func (r *run) emit(e Event) {
	if r.rank == 0 && r.opts.Trace != nil {
		r.opts.Trace(e)
	}
}

// request says what this rank asks of all after the coming step. Rank 0 alone
// asks for checkpoints and evaluations, so that their options need not be equal
// on the ranks.
func (r *run) request() Request {
	q := Request{Stop: r.opts.Stop()}
	if r.rank != 0 {
		return q
	}
	next := r.loop.Step + 1
	q.Checkpoint = r.job.Checkpoint.Dir != "" && r.job.Checkpoint.Every.due(next, time.Since(r.savedAt))
	q.Evaluate = r.job.Eval.Every.due(next, time.Since(r.evaluatedAt))
	return q
}

// after does what the ranks agreed on after a step.
func (r *run) after(ctx context.Context, a Agreed) (bool, error) {
	step, last := r.loop.Step, r.loop.Step == r.loop.Steps
	r.team.Progress(step, "train")
	r.tracker.add(a, r.loop.last)
	r.achieve(last || a.Stop != 0)
	if r.rank == 0 && r.tracker.due(r.job.Log.Every, step, last || a.Stop != 0) {
		r.emit(r.tracker.event(r.loop))
	}
	if last {
		return true, nil // evaluation and checkpoint come with the end
	}
	if a.Stop != 0 {
		r.stopped = a.Stop
		return false, nil
	}
	if err := r.warmUp(ctx); err != nil {
		return false, err
	}
	if err := r.startLowRank(ctx); err != nil {
		return false, err
	}
	if a.Evaluate {
		if err := r.evaluate(ctx); err != nil {
			return false, err
		}
	}
	if a.Checkpoint {
		if _, err := r.checkpoint(ctx, false); err != nil {
			return false, err
		}
	}
	return true, nil
}

// evaluate reports the metrics of the variables as they are. If the loss is not
// finite neither are the variables, which the last update may have made so: then
// nothing may be saved or exported.
func (r *run) evaluate(ctx context.Context) error {
	r.team.Progress(r.loop.Step, "evaluate")
	m, err := r.eval.Run(ctx, r.team.Group)
	if err != nil {
		return err
	}
	m.Step, m.Epoch = r.loop.Step, epochOf(r.loop.Source.Position())
	r.last, r.lastStep, r.evaluatedAt = m, m.Step, time.Now()
	r.emit(m)
	if loss := float64(m.Loss); math.IsNaN(loss) || math.IsInf(loss, 0) {
		return &ring.Cause{
			Rank: -1, Step: m.Step, Operation: "evaluate", ExitCode: exitcode.NotFinite,
			Text: fmt.Sprintf("loss on the %s records is not finite; %s", m.Split, notFiniteAdvice),
		}
	}
	return nil
}

// result is how far the run has come.
func (r *run) result() Result {
	return Result{Stopped: r.stopped, Step: r.loop.Step}
}
