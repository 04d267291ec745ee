package serving

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
)

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
	wanted := make([]int, len(outputs))
	for i, key := range outputs {
		if wanted[i], err = s.Output(key); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "signature %s: %v", s.Name, err)
		}
	}
	all, err := v.run(ctx, v.lanes[signature], inputs)
	if err != nil || outputs == nil {
		return all, err
	}
	chosen := make([]*interpreter.Tensor, len(wanted))
	for i, at := range wanted {
		chosen[i] = all[at]
	}
	return chosen, nil
}

func (v *Version) run(ctx context.Context, l *lane, inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
	records, limit := l.records(inputs), v.cores.Batch
	if limit == 1 {
		records = 0
	}
	if records <= limit {
		return v.cores.run(ctx, &request{of: l, inputs: inputs, records: records, arrived: time.Now()})
	}
	answers, err := v.parts(ctx, l, inputs, records)
	if err != nil {
		return nil, err
	}
	for _, part := range answers {
		if !l.perRecord(part, min(limit, records)) {
			return v.run(ctx, l, inputs)
		}
		records -= limit
	}
	return join(nil, answers), nil
}

// parts runs a request that is larger than a batch, as many parts side by side as there are cores.
func (v *Version) parts(ctx context.Context, l *lane, inputs []*interpreter.Tensor, records int) ([][]*interpreter.Tensor, error) {
	limit := v.cores.Batch
	answers := make([][]*interpreter.Tensor, (records+limit-1)/limit)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(v.cores.Cores)
	for i := range answers {
		lo, hi := i*limit, min((i+1)*limit, records)
		group.Go(func() (err error) {
			part := &request{of: l, inputs: cut(inputs, lo, hi), records: hi - lo, arrived: time.Now()}
			answers[i], err = v.cores.run(within, part)
			return err
		})
	}
	return answers, group.Wait()
}

// signature returns the signature of a name.
func (v *Version) signature(name string) (*interpreter.Signature, error) {
	s, err := v.Model.Signature(name)
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "version %d of %s: %v", v.Number, v.Name, err)
	}
	return s, nil
}
