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
	text   Text
	made   atomic.Pointer[Set] // nil: not yet
	start  func()              // makes the cache once, when the records are counted
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// errClosed ends the making.
var errClosed = errors.New("cache: closed")

// Behind returns the records of t, and makes the cache c of t in the background: at once, or after
// its records have been counted.
func Behind(c Config, t Text, notice func(string)) *Growing {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &Growing{text: t, cancel: cancel, ended: make(chan struct{})}
	g.start = sync.OnceFunc(func() { go g.grow(ctx, c, notice) })
	if t.Facts().Counting == nil {
		g.start()
	}
	return g
}

// Facts are those of the text, and those of the cache when it is whole.
func (g *Growing) Facts() input.Facts {
	f := g.text.Facts()
	f.Caching = g.ended
	if f.Counting != nil {
		f.Counting = starting{f.Counting, g.start}
	}
	if s := g.made.Load(); s != nil {
		f.Counts = s.facts.Counts
	}
	return f
}

// starting starts to make the cache when the records are counted.
type starting struct {
	input.Counting
	start func()
}

func (s starting) JoinCounts(parts [][]byte) error {
	err := s.Counting.JoinCounts(parts)
	if err == nil {
		s.start()
	}
	return err
}

// grow makes the cache.
func (g *Growing) grow(ctx context.Context, c Config, notice func(string)) {
	defer close(g.ended)
	if ctx.Err() != nil {
		return
	}
	t := g.text
	s, err := Once(ctx, c, notice, func() error { return Make(ctx, c, t, 1) })
	switch {
	case errors.Is(err, errClosed):
	case err != nil:
		notice(fmt.Sprintf("no cache is made, and the text is read again: %v", err))
	case s.facts.Records != t.Facts().Records:
		notice(fmt.Sprintf("cache %s is not used: it has %d records, and the text %d", c.Name(), s.facts.Records, t.Facts().Records))
		s.Close()
	default:
		g.made.Store(s)
		t.Forget()
	}
}

// Append adds records in their order.
func (g *Growing) Append(b *input.Batch, records ...int) error {
	if s := g.made.Load(); s != nil {
		return s.Append(b, records...)
	}
	return g.text.Append(b, records...)
}

// Close ends the making, and closes cache and text.
func (g *Growing) Close() error {
	g.cancel(errClosed)
	g.start() // closes ended, if nothing was counted
	<-g.ended
	err := g.text.Close()
	if s := g.made.Load(); s != nil {
		err = errors.Join(err, s.Close())
	}
	return err
}
