package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model/tensor"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// openOutputs checks on rank 0 that checkpoints, exports and curves can be written, and claims the
// folder of checkpoints. A process does so once. If another process has claimed the folder since, this
// process is no longer rank 0.
func (r *run) openOutputs(ctx context.Context) error {
	if r.rank != 0 || r.outputsChecked {
		return r.checkOwnership()
	}
	r.disk = bundle.NewDisk(bundle.OS, r.warnCleanUp)
	for _, o := range []struct {
		key, dir, operation string
		check               func(disk *bundle.Disk, dir string) error
	}{
		{"checkpoint.dir", r.job.Checkpoint.Dir, "checkpoint", bundle.Probe},
		{"export.savedmodel", r.job.Export.SavedModel, "export", savedmodel.Check},
		{"summary.dir", r.job.Summary.Dir, "", bundle.Probe},
	} {
		if o.dir == "" {
			continue
		}
		if err := o.check(r.disk, o.dir); err != nil {
			return fmt.Errorf("%s: %w", o.key, err)
		}
		if text := bundle.PatternWarning(o.key, o.dir); text != "" && o.operation != "" {
			r.warnFromStart(o.operation, text)
		}
	}
	if text := (trained.Exporter{Job: r.job, Model: r.model}).Other(); text != "" {
		r.warnFromStart("export", "export.savedmodel: "+text)
	}
	if dir := r.job.Checkpoint.Dir; dir != "" {
		folder, err := checkpoint.Claim(ctx, r.disk, dir, r.team.Group.Membership().JobID, r.opts.Notice)
		if err != nil {
			return fmt.Errorf("checkpoint.dir: %w", err)
		}
		r.folder = folder
		folder.Keep()
	}
	r.outputsChecked = true
	return nil
}

// warnCleanUp reports what is no longer needed and cannot be removed.
func (r *run) warnCleanUp(err error) { r.warnFromStart("clean-up", err.Error()) }

// warnFromStart reports a warning, which ends no run. A warning from before the start follows it.
func (r *run) warnFromStart(operation, text string) {
	c := &ring.Cause{Rank: r.rank, Step: r.progress.step, Operation: operation, Text: text}
	if !r.startReported {
		r.earlyWarnings = append(r.earlyWarnings, c)
		return
	}
	r.warn(c)
}

// checkOwnership returns an error if another process has claimed the folder of checkpoints.
func (r *run) checkOwnership() error {
	if r.folder == nil {
		return nil
	}
	if err := r.folder.LeaseError(); err != nil {
		return fmt.Errorf("checkpoint.dir: %w", err)
	}
	return nil
}

// checkpoint compares the replicas, then saves the state on rank 0. It is collective. It returns the
// digest of the variables. Variables that are not finite are an error on all ranks; the last good
// checkpoint then stays the newest.
func (r *run) checkpoint(ctx context.Context, finished bool) (string, error) {
	start := time.Now()
	r.team.Progress(r.loop.Step, "checkpoint")
	digest, err := compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	if err == nil {
		err = r.wantFinite()
	}
	if err != nil {
		return "", err
	}
	if r.rank != 0 {
		return digest, nil
	}
	if err = r.save(start, finished); err == nil {
		r.saveEvaluation()
	}
	return digest, err
}

// save saves the state of rank 0, unless that state is saved already. Training has waited since start.
func (t *Trainer) save(start time.Time, finished bool) error {
	this := saved{t.progress.step, finished}
	if t.folder == nil || t.saved == this {
		return nil
	}
	t.savedAt = time.Now() // also after a failure: the next interval tries again
	if t.summary != nil {
		t.summary.Push() // a run that resumes here finds the curves up to here
	}
	state, err := t.checkpointState(finished)
	if err != nil {
		return err
	}
	written, err := t.folder.Save(state, t.job.Checkpoint.Keep)
	if err != nil {
		return checkpointError{err}
	}
	took := report.Seconds(time.Since(start))
	t.savedAt, t.saved = time.Now(), this
	t.emit(report.Checkpointed{Step: written.Step, Path: written.Path, Bytes: written.Bytes, Took: took, Stalled: took})
	return nil
}

// saveEvaluation stores the evaluation of the last step beside the checkpoint of that step, once both
// are there.
func (r *run) saveEvaluation() {
	step := r.loop.Step
	if r.rank != 0 || r.folder == nil || r.lastEvalStep != step || r.saved.step != step && !r.finished {
		return
	}
	if err := r.folder.SaveEvaluation(step, r.lastEvaluation()); err != nil {
		r.warn(&ring.Cause{Rank: r.rank, Operation: "checkpoint", Text: fmt.Sprintf("checkpoint.dir: the evaluation of step %d is not stored: %v", step, err)})
	}
}

// lastEvaluation returns the last evaluation in the form of a checkpoint.
func (r *run) lastEvaluation() checkpoint.Evaluation {
	m := r.lastMetrics
	return checkpoint.Evaluation{Loss: checkpoint.Sum(m.Loss), Constant: checkpoint.Sum(m.Constant), Best: r.progress.best.stored()}
}

// checkpointError reports a checkpoint that could not be written.
type checkpointError struct{ error }

func (e checkpointError) Unwrap() error { return e.error }

// toleratesCheckpoint reports whether training continues after err, the error of a checkpoint before
// the last one. If so, it emits a warning.
func (r *run) toleratesCheckpoint(err error) bool {
	u, ok := errors.AsType[checkpointError](err)
	if !ok || exitcode.Of(u) == exitcode.Retry { // another process owns the folder
		return false
	}
	r.warn(&ring.Cause{Rank: r.rank, Step: r.loop.Step, Operation: "checkpoint", Text: u.Error(), ExitCode: exitcode.Of(u)})
	return true
}

// finalCheckpointError returns the error of the last checkpoint. A disk that cannot be written is
// [exitcode.IO] for any reason, because no later checkpoint follows.
func finalCheckpointError(err error) error {
	u, ok := errors.AsType[checkpointError](err)
	if !ok || exitcode.Of(u) == exitcode.Retry {
		return err
	}
	return exitcode.With(exitcode.IO, fmt.Errorf("the last state is not saved: %v", u.error)) // %v, because the exit code of u would win
}

// finalCheckpoint writes the checkpoint at the end of the run, or of this rank's part of it.
func (r *run) finalCheckpoint(ctx context.Context, finished bool) (string, error) {
	digest, err := r.checkpoint(ctx, finished)
	return digest, finalCheckpointError(err)
}

// checkpointState returns the complete state from which a run can resume.
func (t *Trainer) checkpointState(finished bool) (checkpoint.State, error) {
	var tensors []bundle.Tensor
	for _, v := range t.model.Variables() {
		tensors = append(tensors, bundle.Float32(v.Name, v.Shape, v.Value))
	}
	for _, s := range t.slots() {
		tensors = append(tensors, bundle.Float32(s.Name, s.Shape, s.Value))
	}
	options := map[string]string{}
	for _, o := range t.agreedOptions() {
		options[o.Key] = o.Value
	}
	file, err := t.job.File()
	if err != nil {
		return checkpoint.State{}, exitcode.With(exitcode.Internal, err)
	}
	return checkpoint.State{
		Step: t.progress.step, Tensors: tensors,
		Run: checkpoint.Run{
			Seed: t.job.Train.Seed, Position: t.progress.position, Epoch: t.progress.epoch.stored(), Best: t.progress.best.stored(),
			Steps:   t.progress.steps,
			Options: options, Decisions: t.decisions(), Kernels: t.reportedKernels,
			Finished: finished, JobFile: string(file), Shape: t.model.Graph().Inputs[0].Shape, Columns: t.data.Columns(),
		},
	}, nil
}

// wantFinite returns an error that names the first variable with a NaN or an infinity. The last
// update may have produced it, and only the next loss would show it. Replicas are equal, so all ranks
// return the same error.
func (t *Trainer) wantFinite() error {
	for _, v := range t.model.Variables() {
		if !tensor.Finite(v.Value) {
			return &ring.Cause{
				Rank: -1, Step: t.progress.step, Operation: "checkpoint", ExitCode: exitcode.NotFinite,
				Text: fmt.Sprintf("variable %s is not finite; %s", v.Name, notFiniteAdvice),
			}
		}
	}
	return nil
}

// warn reports c, which does not end the run.
func (r *run) warn(c *ring.Cause) {
	host := r.team.Group.Membership().Workers[c.Rank].Host
	r.emit(report.Warning{Rank: c.Rank, Host: host, Step: r.progress.step, Operation: c.Operation, Cause: c.Text, ExitCode: c.ExitCode})
}

// toleratesEvaluation reports whether training continues after err, the error of an evaluation before
// the last one. If so, it emits a warning. The result is the same on all ranks.
func (r *run) toleratesEvaluation(err error) bool {
	failed, ok := errors.AsType[evaluate.Failure](err)
	if ok {
		r.warn(failed.Cause)
	}
	return ok
}
