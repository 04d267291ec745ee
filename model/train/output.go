package train

import (
	"context"
	"fmt"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/ring/exitcode"
)

// checkOutputs has rank 0 find out before training whether checkpoints and exports
// can be written.
func (r *run) checkOutputs() error {
	if r.rank != 0 || r.checked {
		return nil
	}
	if dir := r.job.Checkpoint.Dir; dir != "" {
		if err := checkpoint.Check(bundle.OS, dir); err != nil {
			return fmt.Errorf("checkpoint.dir: %w", err)
		}
	}
	if base := r.job.Export.SavedModel; base != "" {
		if err := savedmodel.Check(base); err != nil {
			return fmt.Errorf("export.savedmodel: %w", err)
		}
	}
	r.checked = true
	return nil
}

// checkpoint compares the replicas, which is collective, and has rank 0 save
// the state. It returns the digest of the variables. If they are not finite it is
// an error on all ranks, and the last good checkpoint stays the newest.
func (r *run) checkpoint(ctx context.Context, finished bool) (string, error) {
	start := time.Now()
	r.team.Progress(r.loop.Step, "checkpoint")
	digest, err := compareReplicas(ctx, r.team.Group, r.model.Variables(), r.loop.Step)
	if err != nil {
		return "", err
	}
	if err := r.wantFinite(); err != nil {
		return "", err
	}
	this := saved{r.loop.Step, finished}
	if r.rank != 0 || r.job.Checkpoint.Dir == "" || r.saved == this {
		return digest, nil
	}
	state, err := r.checkpointState(finished)
	if err != nil {
		return "", err
	}
	written, err := checkpoint.Save(bundle.OS, r.job.Checkpoint.Dir, state, r.job.Checkpoint.Keep)
	if err != nil {
		return "", err
	}
	took := Seconds(time.Since(start))
	r.savedAt, r.saved = time.Now(), this
	r.emit(Checkpointed{Step: written.Step, Path: written.Path, Bytes: written.Bytes, Took: took, Stalled: took})
	return digest, nil
}

// checkpointState is all that a run needs to go on from here.
func (r *run) checkpointState(finished bool) (checkpoint.State, error) {
	var tensors []bundle.Tensor
	for _, v := range r.model.Variables() {
		tensors = append(tensors, bundle.Float32(v.Name, v.Shape, v.Value))
	}
	for _, s := range r.optimizer.Slots() {
		tensors = append(tensors, bundle.Float32(s.Name, s.Shape, s.Value))
	}
	options := map[string]string{}
	for _, o := range r.agreedOptions() {
		options[o.Key] = o.Value
	}
	file, err := r.job.File()
	if err != nil {
		return checkpoint.State{}, exitcode.With(exitcode.Internal, err)
	}
	return checkpoint.State{
		Step: r.loop.Step, Tensors: tensors,
		Run: checkpoint.Run{
			Seed: r.job.Train.Seed, Position: r.loop.Source.Position(), Epoch: r.where.epoch.stored(), Steps: r.steps,
			Options: options, Decisions: r.decisions(), Finished: finished, JobFile: string(file),
		},
	}, nil
}
