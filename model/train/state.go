package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// place in a run: what a checkpoint knows besides tensors.
type start struct {
	found    bool // a checkpoint was restored
	step     int64
	steps    int64 // of the whole run as first started, 0 if fresh
	position input.Position
}

// startBytes is the length of an encoded start.
const startBytes = 40

func (s start) encode() []byte {
	b := make([]byte, 0, startBytes)
	le := binary.LittleEndian
	found := uint64(0)
	if s.found {
		found = 1
	}
	for _, v := range []uint64{found, uint64(s.step), uint64(s.steps), uint64(s.position.Epoch), uint64(s.position.Offset)} {
		b = le.AppendUint64(b, v)
	}
	return b
}

func decodeStart(b []byte) start {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return start{at(0) == 1, at(1), at(2), input.Position{Epoch: at(3), Offset: at(4)}}
}

// state gives all ranks the same state: rank 0 restores the newest checkpoint
// or draws initial values, and sends variables, slots, step and position to the
// others, so that only rank 0 needs the disk.
func (r *run) state(ctx context.Context) (start, error) {
	var st start
	if r.rank == 0 {
		var err error
		if st, err = r.restore(); err != nil {
			return st, err
		}
	}
	head := st.encode()
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
		return st, err
	}
	if r.rank != 0 && len(dst.rest) > 0 {
		return st, exitcode.With(exitcode.Protocol, fmt.Errorf("rank 0 sent too little state"))
	}
	return decodeStart(head), nil
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
			return n, exitcode.With(exitcode.Protocol, fmt.Errorf("rank 0 sent too much state"))
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
func (r *run) restore() (start, error) {
	dir := r.job.Checkpoint.Dir
	if r.opts.Resume != "never" && dir != "" {
		path, found, err := checkpoint.Latest(dir)
		if err != nil && !found {
			return start{}, err
		}
		if err != nil {
			r.opts.Notice("passed over: " + err.Error())
		}
		if found {
			return r.restoreFrom(path)
		}
	}
	if r.opts.Resume == "must" {
		return start{}, exitcode.With(exitcode.NoInput, fmt.Errorf("--resume must: no checkpoint in checkpoint.dir %q", dir))
	}
	r.model.Init(r.job.Train.Seed)
	return start{}, nil
}

func (r *run) restoreFrom(path string) (start, error) {
	s, err := checkpoint.Load(path)
	if err != nil {
		return start{}, err
	}
	if err := r.sameOptions(path, s.Run.Options); err != nil {
		return start{}, err
	}
	if err := assign(path, s.Tensors, r.model.Variables()); err != nil {
		return start{}, err
	}
	slots := make([]*model.Variable, 0)
	for _, slot := range r.loop.Optimizer.Slots() {
		slots = append(slots, &model.Variable{Name: slot.Name, Shape: slot.Shape, Value: slot.Value})
	}
	if err := assign(path, s.Tensors, slots); err != nil {
		return start{}, err
	}
	return start{true, s.Step, s.Run.Steps, s.Run.Position}, nil
}

// sameOptions checks that the options of the saved run are those of this one.
// A run may be made longer.
func (r *run) sameOptions(path string, saved map[string]string) error {
	var differ []string
	for _, o := range r.agreedOptions() {
		if was, ok := saved[o.Key]; ok && was != o.Value && o.Key != "train.steps" && o.Key != "train.epochs" {
			differ = append(differ, fmt.Sprintf("%s is %q, was %q", o.Key, o.Value, was))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s is of another run: %s; resume with the same options, use --resume never, or another checkpoint.dir",
		path, strings.Join(differ, "; ")))
}

// assign copies the tensors that vars name into their values.
func assign(path string, tensors []bundle.Tensor, vars []*model.Variable) error {
	byName := make(map[string]bundle.Tensor, len(tensors))
	for _, t := range tensors {
		byName[t.Name] = t
	}
	for _, v := range vars {
		t, ok := byName[v.Name]
		if !ok {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: no tensor %s", path, v.Name))
		}
		values, err := t.Float32s()
		if err != nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", path, err))
		}
		if !sameShape(t.Shape, v.Shape) {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s has shape %v, want %v", path, v.Name, t.Shape, v.Shape))
		}
		copy(v.Value, values)
	}
	return nil
}

func sameShape(a []int64, b []int) bool {
	return slices.EqualFunc(a, b, func(x int64, y int) bool { return x == int64(y) })
}
