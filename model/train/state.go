package train

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// state gives all ranks the same state: the newest that a living rank holds, or
// the one that rank 0 restores or draws, so that only rank 0 needs the disk.
func (r *run) state(ctx context.Context) error {
	all, err := r.standings(ctx)
	if err != nil {
		return err
	}
	donor, level := newest(all)
	r.handed = donor >= 0
	h := handover{r.where, r.agreed}
	h.origin.codec = r.codecID()
	if !r.handed {
		if donor = 0; r.rank == 0 {
			h = handover{}
			if h.origin, err = r.restore(); err != nil {
				return err
			}
		}
	}
	behind := r.whole && r.where.step < all[donor].step
	head := h.encode()
	if r.rank == donor {
		err = r.give(ctx, head, level)
	} else {
		err = r.take(ctx, donor, head, level, behind)
	}
	if err != nil {
		return err
	}
	h = decodeHandover(head)
	r.where, r.agreed, r.whole = h.origin, h.agreed, true
	if behind {
		r.missed, r.asked = true, false
	}
	return nil
}

// give sends the handover, and the state behind it unless all ranks have that.
func (r *run) give(ctx context.Context, head []byte, level bool) error {
	readers := []io.Reader{bytes.NewReader(head)}
	if !level {
		for _, s := range r.segments() {
			readers = append(readers, bytes.NewReader(s))
		}
	}
	return r.team.Group.Broadcast(ctx, r.rank, io.MultiReader(readers...), nil)
}

// segments are the bytes of all variables and slots, in one order on all ranks.
func (r *run) segments() [][]byte {
	var s [][]byte
	for _, v := range r.model.Variables() {
		s = append(s, bytesOf(v.Value))
	}
	for _, slot := range r.slots() {
		s = append(s, bytesOf(slot.Value))
	}
	return slices.DeleteFunc(s, func(b []byte) bool { return len(b) == 0 })
}

// restore finds where this run begins. It is rank 0's.
func (r *run) restore() (origin, error) {
	dir := r.job.Checkpoint.Dir
	if r.opts.Resume != "never" && dir != "" {
		path, s, found, err := checkpoint.Newest(dir)
		if err != nil && !found {
			return origin{}, err
		}
		for _, e := range flatten(err) {
			r.opts.Notice("passed over: " + e.Error())
		}
		if found {
			return r.restoreFrom(path, s)
		}
	}
	if r.opts.Resume == "must" {
		return origin{}, exitcode.With(exitcode.NoInput, fmt.Errorf("--resume must: no checkpoint in checkpoint.dir %q", dir))
	}
	r.model.Init(r.job.Train.Seed)
	if err := r.initFrom(); err != nil {
		return origin{}, err
	}
	r.averages.reset()
	return origin{}, nil
}

// restoreFrom restores s, the checkpoint at path.
func (r *run) restoreFrom(path string, s checkpoint.State) (origin, error) {
	if err := r.sameOptions(path, s.Run.Options); err != nil {
		return origin{}, err
	}
	vars := slices.Clone(r.model.Variables())
	for _, slot := range r.slots() {
		vars = append(vars, &model.Variable{Name: slot.Name, Shape: slot.Shape, Value: slot.Value})
	}
	if err := newStored(path, s.Step, epochOf(s.Run.Position), s.Tensors).assign(vars); err != nil {
		return origin{}, err
	}
	r.storedKernels = s.Run.Kernels
	o := origin{found: true, step: s.Step, steps: s.Run.Steps, position: s.Run.Position, epoch: restoredEpoch(s.Run.Epoch), best: restoredBest(s.Run.Best)}
	var err error
	if o.codec, err = storedCodec(path, s.Run.Decisions); err == nil {
		_, err = storedOrder(path, s.Run.Decisions)
	}
	return o, err
}

// perRun are the keys that must be equal on all ranks and may change when a run
// is resumed: it may be made longer, its replicas compared more often, its average used or
// not, and its arithmetic be that of another machine.
var perRun = []string{"train.steps", "train.epochs", "train.check_every", "eval.top_k", "train.kernels",
	"train.average.evaluate", "train.average.export", "train.early_stopping.patience", "train.early_stopping.min_delta"}

// sameOptions checks that the options of the saved run are those of this one. The
// validation records may be others: nothing that is trained depends on them.
func (r *run) sameOptions(path string, saved map[string]string) error {
	var differ []string
	for _, o := range r.agreedOptions() {
		was, ok := saved[o.Key]
		if !ok || was == o.Value || slices.Contains(perRun, o.Key) {
			continue
		}
		change := fmt.Sprintf("%s is %q, was %q", o.Key, o.Value, was)
		if strings.HasPrefix(o.Key, "input.eval.") || strings.HasPrefix(o.Key, "input.evals.") {
			r.opts.Notice(fmt.Sprintf("%s was saved with other validation records: %s", path, change))
		} else {
			differ = append(differ, change)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s is of another run: %s; resume with the same options, use --resume never, or another checkpoint.dir",
		path, strings.Join(differ, "; ")))
}
