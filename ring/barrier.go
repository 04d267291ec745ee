package ring

import (
	"context"
	"fmt"
)

// Barrier returns when all ranks have called it. Between hosts it takes p-1 hops: an empty
// frame that arrives in step s shows that the ranks 1 to s+1 positions to the left have called
// it.
func (g *Group) Barrier(ctx context.Context) error {
	if err := g.begin(ctx, opBarrier, 0); err != nil {
		return err
	}
	defer g.finish()
	if err := g.agree(0); err != nil || !g.overLinks() {
		return err
	}
	w := g.wire
	w.x.start(ctx, terms{kind: opBarrier}, nil, eager)
	defer w.x.finish(nil)
	for step := range w.members.Size() - 1 {
		if err := w.x.send(step); err != nil {
			return err
		}
		f, err := w.x.receive(&w.x.ring, nil, step)
		if err != nil {
			return err
		}
		if len(f.Payload) != 0 {
			return w.fail(left, step, fmt.Errorf("%w: payload of %d bytes, want 0", ErrCorruptFrame, len(f.Payload)))
		}
	}
	return nil
}
