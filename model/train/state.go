package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// state gives all ranks the same state: rank 0 restores the newest checkpoint
// or draws initial values, and sends variables, slots, step and position to the
// others, so that only rank 0 needs the disk.
func (r *run) state(ctx context.Context) (origin, error) {
	var o origin
	if r.rank == 0 {
		var err error
		if o, err = r.restore(); err != nil {
			return o, err
		}
	}
	head := o.encode()
	segments := append([][]byte{head}, r.segments()...)
	var src io.Reader
	if r.rank == 0 {
		readers := make([]io.Reader, len(segments))
		for i, s := range segments {
			readers[i] = bytes.NewReader(s)
		}
		src = io.MultiReader(readers...)
	}
	dst := &segmentWriter{rest: segments}
	if err := r.team.Group.Broadcast(ctx, 0, src, dst); err != nil {
		return o, err
	}
	if r.rank != 0 && len(dst.rest) > 0 {
		return o, exitcode.With(exitcode.Protocol, errors.New("rank 0 sent too little state"))
	}
	return decodeOrigin(head), nil
}

// segments are the bytes of all variables and slots, in one order on all ranks.
func (r *run) segments() [][]byte {
	var s [][]byte
	for _, v := range r.model.Variables() {
		s = append(s, bytesOf(v.Value))
	}
	for _, slot := range r.loop.Optimizer.Slots() {
		s = append(s, bytesOf(slot.Value))
	}
	return slices.DeleteFunc(s, func(b []byte) bool { return len(b) == 0 })
}

// segmentWriter writes a stream into a list of buffers.
type segmentWriter struct{ rest [][]byte }

func (w *segmentWriter) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 {
		if len(w.rest) == 0 {
			return n, exitcode.With(exitcode.Protocol, errors.New("rank 0 sent too much state"))
		}
		k := copy(w.rest[0], p)
		p, n = p[k:], n+k
		if w.rest[0] = w.rest[0][k:]; len(w.rest[0]) == 0 {
			w.rest = w.rest[1:]
		}
	}
	return n, nil
}

// restore finds where this run begins. It is rank 0's.
func (r *run) restore() (origin, error) {
	dir := r.job.Checkpoint.Dir
	if r.opts.Resume != "never" && dir != "" {
		path, found, err := checkpoint.Latest(dir)
		if err != nil && !found {
			return origin{}, err
		}
		for _, e := range flatten(err) {
			r.opts.Notice("passed over: " + e.Error())
		}
		if found {
			return r.restoreFrom(path)
		}
	}
	if r.opts.Resume == "must" {
		return origin{}, exitcode.With(exitcode.NoInput, fmt.Errorf("--resume must: no checkpoint in checkpoint.dir %q", dir))
	}
	r.model.Init(r.job.Train.Seed)
	return origin{}, nil
}

// restoreFrom restores the checkpoint at path.
func (r *run) restoreFrom(path string) (origin, error) {
	s, err := checkpoint.Load(path)
	if err != nil {
		return origin{}, err
	}
	if err := r.sameOptions(path, s.Run.Options); err != nil {
		return origin{}, err
	}
	vars := slices.Clone(r.model.Variables())
	for _, slot := range r.loop.Optimizer.Slots() {
		vars = append(vars, &model.Variable{Name: slot.Name, Shape: slot.Shape, Value: slot.Value})
	}
	if err := newStored(path, s.Step, s.Run.Position, s.Tensors).assign(vars); err != nil {
		return origin{}, err
	}
	o := origin{found: true, step: s.Step, steps: s.Run.Steps, position: s.Run.Position}
	o.codec, err = storedCodec(path, s.Run.Decisions)
	return o, err
}

// perRun are the keys that must be equal on all ranks and may change when a run
// is resumed: it may be made longer, and its replicas compared more often.
var perRun = []string{"train.steps", "train.epochs", "train.check_every"}

// sameOptions checks that the options of the saved run are those of this one.
func (r *run) sameOptions(path string, saved map[string]string) error {
	var differ []string
	for _, o := range r.agreedOptions() {
		if was, ok := saved[o.Key]; ok && was != o.Value && !slices.Contains(perRun, o.Key) {
			differ = append(differ, fmt.Sprintf("%s is %q, was %q", o.Key, o.Value, was))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s is of another run: %s; resume with the same options, use --resume never, or another checkpoint.dir",
		path, strings.Join(differ, "; ")))
}
