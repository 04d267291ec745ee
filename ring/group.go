package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
)

// Config tunes a Group. All ranks of a job must have the same.
type Config struct {
	SegmentElements int              // float32 elements of a frame, a multiple of 256
	OpTimeout       time.Duration    // no progress for this long: ErrTimeout
	Lossless        codec.Compressor // around every codec's bytes; nil: none
}

// maxSegmentElements keeps the longest frame of any codec, tail included,
// within MaxPayloadBytes.
const maxSegmentElements = 1 << 21

// DefaultConfig has segments of 512 KiB and a timeout of five minutes.
func DefaultConfig() Config {
	return Config{SegmentElements: 1 << 17, OpTimeout: 5 * time.Minute}
}

func (c Config) check() error {
	var errs []error
	if n := c.SegmentElements; n < 256 || n > maxSegmentElements || n%256 != 0 {
		errs = append(errs, fmt.Errorf("segment is %d elements, want a multiple of 256 up to %d", n, maxSegmentElements))
	}
	if c.OpTimeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout of an operation is %v, want more than 0", c.OpTimeout))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// frameBytes is how many bytes go into a frame of an operation without codec.
func (c Config) frameBytes() int { return 4 * c.SegmentElements }

// A Group is the set of workers of one generation, seen from one of them, and
// the operations that they do together.
//
// Operations are called by one goroutine at a time, on every rank the same ones
// in the same order. SentBytes, Waiting and Close may be called at any time.
type Group struct {
	members Membership
	config  Config
	link    Link            // nil at world size 1
	ctx     context.Context // the generation's

	turn chan struct{} // held by the running operation, at last by Close
	mu   sync.Mutex
	op   operation // the running one; guarded by mu
	seq  uint64    // of the next operation; guarded by mu
	err  error     // the first failure; guarded by mu

	wait     atomic.Uint64 // what the operation's goroutine waits for: waitState
	progress atomic.Uint64 // frames sent and received
	sent     atomic.Int64  // bytes, headers included

	x        exchange
	reduce   allReduce
	gather   allGather
	scratch  []byte // one received frame
	quit     chan struct{}
	running  sync.WaitGroup // sender and watchdog
	closing  sync.Once
	closeErr error
}

// New makes the group of m over t, which the group closes, also if New fails.
// When ctx ends, so does the group, with ctx's cause.
func New(ctx context.Context, m Membership, t Transport, c Config) (*Group, error) {
	link := t.Ring
	if m.Rank < 0 || m.Rank >= m.Size() {
		return nil, fmt.Errorf("ring: rank is %d, want 0 to %d", m.Rank, m.Size()-1)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("ring: this machine is big-endian, want a little-endian one: gradients travel as they lie in memory")
	}
	if link == nil && m.Size() > 1 {
		panic("ring: no link")
	}
	g := &Group{members: m, config: c, link: link, ctx: ctx, turn: make(chan struct{}, 1), quit: make(chan struct{})}
	g.x.init(g)
	g.reduce.g, g.gather.g = g, g
	if m.Size() > 1 {
		g.running.Go(g.x.sender)
		g.running.Go(g.watch)
	}
	return g, nil
}

// Membership returns the workers of the group.
func (g *Group) Membership() Membership { return g.members }

// arenaAlign is a cache line, in bytes.
const arenaAlign = 64

// Arena returns n zeros whose first element lies at the start of a cache line.
// Gradients belong there: buckets are slices of it, and whatever shares memory
// among the ranks of a host shares the arena.
//
// All ranks call it, with the same n.
func (g *Group) Arena(_ context.Context, n int) ([]float32, error) {
	const slack = arenaAlign / 4
	a := make([]float32, n+slack)
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(a)))%arenaAlign) / 4
	return a[at : at+n : at+n], nil
}

// SentBytes returns how many bytes this rank has sent to its right neighbour,
// headers included, and how many of them left the host.
func (g *Group) SentBytes() (total, betweenHosts int64) {
	total = g.sent.Load()
	if g.members.Self().HostID != g.members.Right().HostID {
		betweenHosts = total
	}
	return total, betweenHosts
}

// Close ends the group and closes its link. A running operation fails, and
// Close returns after it. Close may be called more than once.
func (g *Group) Close() error {
	g.closing.Do(func() {
		g.end(ErrClosed)
		g.turn <- struct{}{} // the last operation has returned, and none comes after it
		close(g.quit)
		g.running.Wait()
	})
	return g.closeErr
}

// end stores why the group has ended, if it goes on still, closes the link,
// which unblocks everybody, and returns the reason that came first.
func (g *Group) end(why error) error {
	first := g.mark(why)
	if g.link != nil {
		if err := g.link.Close(); err != nil {
			g.mu.Lock()
			g.closeErr = err
			g.mu.Unlock()
		}
	}
	return first
}

// mark stores why no operation can follow, unless there is a reason already,
// and returns the reason that came first. The link stays open: what was sent
// still arrives.
func (g *Group) mark(why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = why
	}
	return g.err
}

// failure returns why the group has ended, or nil.
func (g *Group) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}
