package ring

import (
	"context"
	"fmt"
)

// Barrier returns when all ranks have called it. Between hosts it takes p-1 hops: an empty
// frame that arrives in step s shows that the ranks 1 to s+1 positions to the left have called
// it.
func (g *Group) Barrier(ctx context.Context) (err error) {
	if err := g.begin(ctx, opBarrier, 0); err != nil {
		return err
	}
	defer g.finish(&err)
	if err := g.agree(0); err != nil || !g.overLinks() {
		return err
	}
	g.wire.start(&g.op, terms{kind: opBarrier}, nil, eager)
	return g.wire.finish(g.wire.barrier())
}

// barrier exchanges empty frames with the neighbours.
func (w *wire) barrier() error {
	for step := range w.members.Size() - 1 {
		if err := w.send(step); err != nil {
			return err
		}
		f, err := w.receive(nil, step)
		if err != nil {
			return err
		}
		if len(f.Payload) != 0 {
			return w.fail(left, step, fmt.Errorf("%w: payload of %d bytes, want 0", ErrCorruptFrame, len(f.Payload)))
		}
	}
	return nil
}
