package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"ringtrain/input"
)

// Growing is the records of text, which are read from the cache as soon as it is whole. One
// process of a host makes the cache in the background, and the others wait for it while they
// read the text. If the cache cannot be made, Growing sends a notice and goes on with the
// text.
type Growing struct {
	Text
	input.Shared                     // Text, or counted
	made         atomic.Pointer[Set] // nil: not yet
	start        func()              // makes the cache once, when the records are counted
	cancel       context.CancelCauseFunc
	ended        chan struct{}
}

// counted stands for input.Shared where Text does not implement it: all records are counted.
type counted struct{ input.Shared }

func (counted) Counted() bool { return true }
func (counted) Bytes() int64  { return 0 }

// errClosed ends the making.
var errClosed = errors.New("cache: closed")

// Behind returns the records of t, and makes the cache c of t in the background: at once, or after
// JoinCounts if t is an input.Shared to be counted.
func Behind(c Config, t Text, notice func(string)) *Growing {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &Growing{Text: t, cancel: cancel, ended: make(chan struct{})}
	g.start = sync.OnceFunc(func() { go g.grow(ctx, c, notice) })
	var ok bool
	if g.Shared, ok = t.(input.Shared); !ok {
		g.Shared = counted{}
	}
	if g.Counted() {
		g.start()
	}
	return g
}

// JoinCounts is that of the text, and starts to make the cache.
func (g *Growing) JoinCounts(parts [][]byte) error {
	err := g.Shared.JoinCounts(parts)
	if err == nil {
		g.start()
	}
	return err
}

// grow makes the cache.
func (g *Growing) grow(ctx context.Context, c Config, notice func(string)) {
	defer close(g.ended)
	if ctx.Err() != nil {
		return
	}
	t := g.Text
	s, err := Once(ctx, c, notice, func() error { return Make(ctx, c, t, 1) })
	switch {
	case errors.Is(err, errClosed):
	case err != nil:
		notice(fmt.Sprintf("no cache is made, and the text is read again: %v", err))
	case s.Len() != t.Len():
		notice(fmt.Sprintf("cache %s is not used: it has %d records, and the text %d", c.Name(), s.Len(), t.Len()))
		s.Close()
	default:
		g.made.Store(s)
		if f, ok := t.(interface{ Forget() }); ok {
			f.Forget()
		}
	}
}

// Append adds record i.
func (g *Growing) Append(b *input.Batch, i int) error {
	if s := g.made.Load(); s != nil {
		return s.Append(b, i)
	}
	return g.Text.Append(b, i)
}

// AppendAll adds records in their order.
func (g *Growing) AppendAll(b *input.Batch, records []int) error {
	if s := g.made.Load(); s != nil {
		return s.AppendAll(b, records)
	}
	return input.AppendRecords(b, g.Text, records)
}

// Counts returns the counts of all records, nil before the cache is whole.
func (g *Growing) Counts() *input.Counts {
	if s := g.made.Load(); s != nil {
		return s.Counts()
	}
	return nil
}

// Made waits until the cache is whole or cannot be made, and reports which.
func (g *Growing) Made() bool {
	<-g.ended
	return g.made.Load() != nil
}

// Close ends the making, and closes cache and text.
func (g *Growing) Close() error {
	g.cancel(errClosed)
	g.start() // closes ended, if nothing was counted
	<-g.ended
	err := g.Text.Close()
	if s := g.made.Load(); s != nil {
		err = errors.Join(err, s.Close())
	}
	return err
}
