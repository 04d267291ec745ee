package serving

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/ring/phrase"
)

// runs is how a version answers: its signatures, compiled, and the cores that run them.
type runs struct {
	cores *Cores
	lanes map[string]*lane // by signature
}

// Run answers a request by the outputs of a signature, in the order of outputs; nil are all, by key.
// The inputs are in the order of the signature's. Run does not change them, and the answer does not
// refer to them.
//
// Requests that wait for a core go together if the first dimension of all inputs and outputs is any
// size, as that of records is. A request of more records than a batch may have is cut, and its parts
// run side by side.
func (v *Version) Run(ctx context.Context, signature string, outputs []string, inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
	s, err := v.signature(signature)
	if err != nil {
		return nil, err
	}
	wanted, err := positions(s, outputs)
	if err != nil {
		return nil, err
	}
	all, err := v.runs.run(ctx, v.runs.lanes[signature], inputs)
	if err != nil || outputs == nil {
		return all, err
	}
	chosen := make([]*interpreter.Tensor, len(wanted))
	for i, at := range wanted {
		chosen[i] = all[at]
	}
	return chosen, nil
}

func (r *runs) run(ctx context.Context, l *lane, inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
	records, limit := l.records(inputs), r.cores.Batch
	if limit == 1 {
		records = 0
	}
	if records <= limit {
		return r.cores.run(ctx, &request{of: l, inputs: inputs, records: records, arrived: time.Now()})
	}
	answers, err := r.parts(ctx, l, inputs, records)
	if err != nil {
		return nil, err
	}
	for _, part := range answers {
		if !l.perRecord(part, min(limit, records)) {
			return r.run(ctx, l, inputs)
		}
		records -= limit
	}
	return join(nil, answers), nil
}

// parts runs a request that is larger than a batch, as many parts side by side as there are cores.
func (r *runs) parts(ctx context.Context, l *lane, inputs []*interpreter.Tensor, records int) ([][]*interpreter.Tensor, error) {
	limit := r.cores.Batch
	answers := make([][]*interpreter.Tensor, (records+limit-1)/limit)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(r.cores.Cores)
	for i := range answers {
		lo, hi := i*limit, min((i+1)*limit, records)
		group.Go(func() (err error) {
			part := &request{of: l, inputs: cut(inputs, lo, hi), records: hi - lo, arrived: time.Now()}
			answers[i], err = r.cores.run(within, part)
			return err
		})
	}
	return answers, group.Wait()
}

// signature returns the signature of a name.
func (v *Version) signature(name string) (*interpreter.Signature, error) {
	all := v.Model.Signatures
	if i := slices.IndexFunc(all, func(s interpreter.Signature) bool { return s.Name == name }); i >= 0 {
		return &all[i], nil
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return nil, status.Errorf(codes.FailedPrecondition, "version %d of %s has no signature %s, want one of %s%s",
		v.Number, v.Name, phrase.Quote(name), phrase.Names(names, maxNames), phrase.DidYouMean(name, names))
}

// positions returns the places of outputs among those of a signature.
func positions(s *interpreter.Signature, outputs []string) ([]int, error) {
	at := make([]int, len(outputs))
	for i, key := range outputs {
		at[i] = slices.IndexFunc(s.Outputs, func(p interpreter.Port) bool { return p.Key == key })
		if at[i] < 0 {
			return nil, status.Errorf(codes.InvalidArgument, "signature %s has no output %s, want one of %s", s.Name, phrase.Quote(key), phrase.Names(keys(s.Outputs), maxNames))
		}
	}
	return at, nil
}

// maxNames bounds the names in a message.
const maxNames = 20

func keys(ports []interpreter.Port) []string {
	all := make([]string, len(ports))
	for i, p := range ports {
		all[i] = p.Key
	}
	return all
}
