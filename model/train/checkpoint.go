package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// outputs are the files that rank 0 writes, over all generations of the process.
type outputs struct {
	opened       bool
	disk         *bundle.Disk       // nil before open
	folder       *checkpoint.Folder // checkpoint.dir, which this process has claimed; nil if there is none
	saved        saved
	savedAt      time.Time
	exported     bool
	exportedBest int64 // step of the exported best evaluation; 0: none
}

// saved describes the newest checkpoint of this process.
type saved struct {
	step     int64 // -1 if there is none
	finished bool
}

// openOutputs checks on rank 0 that checkpoints, exports and curves can be written, and claims the
// folder of checkpoints. A process does so once. If another process has claimed the folder since, this
// process is no longer rank 0.
func (r *run) openOutputs(ctx context.Context) error {
	out, cfg := &r.outputs, r.job
	if r.rank != 0 || out.opened {
		return out.checkOwnership()
	}
	out.disk = bundle.NewDisk(bundle.OS, func(err error) { r.reporter.warnOf("clean-up", err.Error()) })
	for _, o := range []struct {
		key, dir, operation string
		check               func(disk *bundle.Disk, dir string) error
	}{
		{"checkpoint.dir", cfg.Checkpoint.Dir, "checkpoint", bundle.Probe},
		{"export.savedmodel", cfg.Export.SavedModel, "export", savedmodel.Check},
		{"summary.dir", cfg.Summary.Dir, "", bundle.Probe},
	} {
		if o.dir == "" {
			continue
		}
		if err := o.check(out.disk, o.dir); err != nil {
			return fmt.Errorf("%s: %w", o.key, err)
		}
		if text := bundle.PatternWarning(o.key, o.dir); text != "" && o.operation != "" {
			r.reporter.warnOf(o.operation, text)
		}
	}
	if text := (trained.Exporter{Job: cfg, Model: r.model}).Other(); text != "" {
		r.reporter.warnOf("export", "export.savedmodel: "+text)
	}
	if guard := cfg.Export.If; cfg.Export.SavedModel != "" && r.data.Eval == nil && len(guard.Bounds()) > 0 {
		r.reporter.warnOf("export", fmt.Sprintf("export.if is %v, and nothing is evaluated: no version will be written; add input.split, as in {share: 0.1}", guard))
	}
	if dir := cfg.Checkpoint.Dir; dir != "" {
		folder, err := checkpoint.Claim(ctx, out.disk, dir, r.team.Group.Membership().JobID, r.reporter.notice)
		if err != nil {
			return fmt.Errorf("checkpoint.dir: %w", err)
		}
		out.folder = folder
		folder.Keep()
	}
	out.opened = true
	return nil
}

// checkOwnership returns an error if another process has claimed the folder of checkpoints.
func (o *outputs) checkOwnership() error {
	if o.folder == nil {
		return nil
	}
	if err := o.folder.LeaseError(); err != nil {
		return fmt.Errorf("checkpoint.dir: %w", err)
	}
	return nil
}

// pin keeps the checkpoint of a step.
func (o *outputs) pin(step int64) {
	if o.folder != nil {
		o.folder.Pin(step)
	}
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
	out, this := &t.outputs, saved{t.progress.step, finished}
	if out.folder == nil || out.saved == this {
		return nil
	}
	out.savedAt = time.Now() // also after a failure: the next interval tries again
	if f := t.reporter.curves.file; f != nil {
		f.Push() // a run that resumes here finds the curves up to here
	}
	state, err := t.checkpointState(finished)
	if err != nil {
		return err
	}
	written, err := out.folder.Save(state, t.job.Checkpoint.Keep)
	if err != nil {
		return checkpointError{err}
	}
	took := report.Seconds(time.Since(start))
	out.savedAt, out.saved = time.Now(), this
	t.reporter.emit(report.Checkpointed{Step: written.Step, Path: written.Path, Bytes: written.Bytes, Took: took, Stalled: took})
	return nil
}

// saveEvaluation stores the evaluation of the last step beside the checkpoint of that step, once both
// are there.
func (r *run) saveEvaluation() {
	step, folder := r.loop.Step, r.outputs.folder
	if folder == nil || r.eval.lastStep != step || r.outputs.saved.step != step && !r.finished {
		return
	}
	if err := folder.SaveEvaluation(step, r.eval.stored(r.progress.best)); err != nil {
		r.reporter.warn(&ring.Cause{Operation: "checkpoint", Text: fmt.Sprintf("checkpoint.dir: the evaluation of step %d is not stored: %v", step, err)})
	}
}

// checkpointError reports a checkpoint that could not be written.
type checkpointError struct{ error }

func (e checkpointError) Unwrap() error { return e.error }

// finalCheckpointError returns the error of the last checkpoint. A disk that cannot be written is
// [exitcode.IO] for any reason, because no later checkpoint follows.
func finalCheckpointError(err error) error {
	u, ok := errors.AsType[checkpointError](err)
	if !ok || exitcode.Of(u) == exitcode.Retry {
		return err
	}
	return exitcode.With(exitcode.IO, fmt.Errorf("the last state is not saved: %v", u.error)) // %v, because the exit code of u would win
}

// checkpointState returns the complete state from which a run can resume.
func (t *Trainer) checkpointState(finished bool) (checkpoint.State, error) {
	var tensors []bundle.Tensor
	for _, v := range t.variablesWith(t.slots()) {
		tensors = append(tensors, bundle.Float32(v.Name, v.Shape, v.Value))
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
			Options: options, Decisions: t.progress.decisions(), Kernels: t.reporter.kernels,
			Finished: finished, JobFile: string(file), Shape: t.model.Graph().Inputs[0].Shape, Columns: t.data.Columns(), Classes: t.model.Graph().Head.Labels,
		},
	}, nil
}
