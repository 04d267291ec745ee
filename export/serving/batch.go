package serving

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/ring/exitcode"
)

// graph is a compiled signature. Any number of goroutines may run it at the same time.
type graph interface {
	Run(inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error)
}

// lane is a signature of a version, and how its requests go together.
type lane struct {
	graph  graph
	inputs []interpreter.Port
	meters meters

	whole atomic.Bool // requests may be neither put together nor cut
	spare sync.Pool   // of *[]*interpreter.Tensor: the inputs of batches
}

func newLane(g graph, s interpreter.Signature, m meters) *lane {
	if len(s.Inputs) == 1 && s.Inputs[0].Shape == nil && s.Features != nil { // tf.Examples are a list; graphs of TensorFlow 1 do not say so
		examples := s.Inputs[0]
		examples.Shape = []int{-1}
		s.Inputs = []interpreter.Port{examples}
	}
	l := &lane{graph: g, inputs: s.Inputs, meters: m}
	l.whole.Store(!byRecord(s))
	return l
}

// byRecord reports whether the first dimension of all inputs and outputs counts records, and the
// others of an output do not depend on the values: the width of a padded output depends on what else
// is in the batch.
func byRecord(s interpreter.Signature) bool {
	any := func(d int) bool { return d < 0 }
	for _, p := range slices.Concat(s.Inputs, s.Outputs) {
		if len(p.Shape) == 0 || !any(p.Shape[0]) {
			return false
		}
	}
	for _, p := range s.Outputs {
		if slices.ContainsFunc(p.Shape[1:], any) {
			return false
		}
	}
	return len(s.Inputs) > 0
}

// records returns the number of records of a request, 0 if it must run alone: also if it does not
// look as the signature says, because the graph decides about that as in TensorFlow.
func (l *lane) records(inputs []*interpreter.Tensor) int {
	if l.whole.Load() || len(inputs) != len(l.inputs) {
		return 0
	}
	for i, t := range inputs {
		if t.Type != l.inputs[i].Type || !l.inputs[i].Fits(t.Shape) || t.Shape[0] != inputs[0].Shape[0] {
			return 0
		}
	}
	return inputs[0].Shape[0]
}

// run answers the requests of a batch. If they do not go together, as one of them has values that
// the graph refuses, each runs alone.
func (l *lane) run(batch []*request) {
	began := time.Now()
	l.meters.began(batch, began)
	defer func() { l.meters.ran(time.Since(began)) }()
	if len(batch) > 1 && l.together(batch) {
		return
	}
	for _, r := range batch {
		r.outputs, r.err = l.compute(r.inputs)
	}
}

// together runs a batch as one. It reports whether that gave each request its answer: after a fault it
// did not.
func (l *lane) together(batch []*request) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	memory, _ := l.spare.Get().(*[]*interpreter.Tensor)
	if memory == nil {
		memory = new([]*interpreter.Tensor)
	}
	parts := make([][]*interpreter.Tensor, len(batch))
	for i, r := range batch {
		parts[i] = r.inputs
	}
	*memory = join(*memory, parts)
	outputs, err := l.compute(*memory)
	records := (*memory)[0].Shape[0]
	l.spare.Put(memory)
	if err != nil || !l.perRecord(outputs, records) {
		return false
	}
	first := 0
	for _, r := range batch {
		r.outputs = cut(outputs, first, first+r.records)
		first += r.records
	}
	return true
}

// perRecord reports whether outputs have a row for each record. If not, the lane keeps its requests
// whole from then on.
func (l *lane) perRecord(outputs []*interpreter.Tensor, records int) bool {
	for _, t := range outputs {
		if len(t.Shape) == 0 || t.Shape[0] != records {
			l.whole.Store(true)
			return false
		}
	}
	return true
}

// compute runs the graph. A fault of the graph must end neither the server nor the other requests.
func (l *lane) compute(inputs []*interpreter.Tensor) (outputs []*interpreter.Tensor, err error) {
	defer unbroken("the graph", &err)
	outputs, err = l.graph.Run(inputs)
	if exitcode.Of(err) == exitcode.BadData { // of the model, not of the request
		return nil, statusOf(err)
	}
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return outputs, nil
}

// join makes dst the records of all parts, tensor by tensor. It uses the memory of dst.
func join(dst []*interpreter.Tensor, parts [][]*interpreter.Tensor) []*interpreter.Tensor {
	for i, first := range parts[0] {
		if i == len(dst) {
			dst = append(dst, new(interpreter.Tensor))
		}
		d := dst[i]
		*d = interpreter.Tensor{Type: first.Type, Shape: append(append(d.Shape[:0], 0), first.Shape[1:]...), Float32: d.Float32[:0], Float64: d.Float64[:0],
			Int32: d.Int32[:0], Int64: d.Int64[:0], Bool: d.Bool[:0], Bytes: d.Bytes[:0]}
		for _, tensors := range parts {
			d.Append(tensors[i])
		}
	}
	return dst
}

// cut returns the records [lo, hi) of tensors, without a copy.
func cut(all []*interpreter.Tensor, lo, hi int) []*interpreter.Tensor {
	parts := make([]*interpreter.Tensor, len(all))
	for i, t := range all {
		size := interpreter.Elements(t.Shape[1:])
		shape := slices.Clone(t.Shape)
		shape[0] = hi - lo
		parts[i] = &interpreter.Tensor{Type: t.Type, Shape: shape,
			Float32: part(t.Float32, lo*size, hi*size), Float64: part(t.Float64, lo*size, hi*size),
			Int32: part(t.Int32, lo*size, hi*size), Int64: part(t.Int64, lo*size, hi*size),
			Bool: part(t.Bool, lo*size, hi*size), Bytes: part(t.Bytes, lo*size, hi*size)}
	}
	return parts
}

func part[V any](values []V, lo, hi int) []V {
	if values == nil {
		return nil
	}
	return values[lo:hi:hi]
}
