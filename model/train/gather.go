package train

import (
	"context"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// gatherEqual collects as many bytes of every rank as mine has. A rank that
// sends another number is an error with exitcode.Protocol.
func gatherEqual(ctx context.Context, g *ring.Group, mine []byte) (*ring.Gathered, error) {
	all := new(ring.Gathered)
	if err := g.AllGather(ctx, mine, all); err != nil {
		return nil, err
	}
	for rank := range g.Membership().Size() {
		if n := len(all.At(rank)); n != len(mine) {
			return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes, want %d", rank, n, len(mine)))
		}
	}
	return all, nil
}
