package ring_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

const pieceBytes = 256 << 10 // a broadcast passes memory in pieces of this size

// TestAllGatherOnHosts verifies that every rank gets the bytes of every rank, for equal and
// different lengths around whole pieces.
func TestAllGatherOnHosts(t *testing.T) {
	rounds := [][]int{ // length of rank r's bytes is [r % len]
		{0}, {1}, {0, 5, 0}, {pieceBytes - 1, pieceBytes, pieceBytes + 1}, {7, 2*pieceBytes + 5}, {2 * pieceBytes}, {3},
	}
	for _, hosts := range [][]int{onOne(1), onOne(2), onOne(3), {0, 0, 1}} {
		t.Run(fmt.Sprintf("hosts=%v", hosts), func(t *testing.T) {
			ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
				var dst ring.Gathered
				for _, lens := range rounds {
					mine := g.Membership().Rank
					if err := g.AllGather(t.Context(), blob(mine, lens[mine%len(lens)]), &dst); err != nil {
						return err
					}
					for r := range hosts {
						if want := blob(r, lens[r%len(lens)]); !bytes.Equal(dst.At(r), want) {
							return fmt.Errorf("lengths %v: %d bytes of rank %d are not the %d that it gave", lens, len(dst.At(r)), r, len(want))
						}
					}
				}
				return nil
			})
		})
	}
}

// TestBroadcastOnHosts verifies that every rank gets the stream of root, for every root and for
// lengths around whole pieces.
func TestBroadcastOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(1), onOne(3), {0, 0, 1}} {
		t.Run(fmt.Sprintf("hosts=%v", hosts), func(t *testing.T) {
			ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
				for root := range hosts {
					for _, n := range []int{0, 1, pieceBytes - 2, pieceBytes - 1, pieceBytes, 2*pieceBytes + 77} {
						want := blob(root, n)
						var dst bytes.Buffer
						if err := g.Broadcast(t.Context(), root, bytes.NewReader(want), &dst); err != nil {
							return err
						}
						if g.Membership().Rank != root && !bytes.Equal(dst.Bytes(), want) {
							return fmt.Errorf("root %d: %d bytes are not the %d that it read", root, dst.Len(), n)
						}
					}
				}
				return nil
			})
		})
	}
}

// TestBroadcastFailsOnOneHost verifies that no rank takes a stream that root could not read for
// a whole one, that each rank names root, and that the full disk of one rank does not keep the
// stream from the others.
func TestBroadcastFailsOnOneHost(t *testing.T) {
	const p, root = 3, 1
	ringtest.RunOnHosts(t, onOne(p), ring.DefaultConfig(), func(g *ring.Group) error {
		err := g.Broadcast(t.Context(), root, &halfReader{300 << 10}, new(bytes.Buffer))
		pe, ok := errors.AsType[*ring.PeerError](err)
		switch {
		case g.Membership().Rank == root:
			if !errors.Is(err, errDisk) {
				return fmt.Errorf("error %v, want %v", err, errDisk)
			}
		case !ok || pe.Rank != root || pe.Err.Error() != errDisk.Error():
			return fmt.Errorf("error %v, want %v of rank %d", err, errDisk, root)
		}
		return nil
	})
	ringtest.RunOnHosts(t, onOne(p), ring.DefaultConfig(), func(g *ring.Group) error {
		if g.Membership().Rank == 2 {
			if err := g.Broadcast(t.Context(), 0, nil, &halfReader{300 << 10}); !errors.Is(err, errDisk) {
				return fmt.Errorf("error %v, want %v", err, errDisk)
			}
			return nil
		}
		var dst bytes.Buffer
		if err := g.Broadcast(t.Context(), 0, bytes.NewReader(blob(0, 1<<20)), &dst); err != nil {
			return err
		}
		if g.Membership().Rank == 1 && !bytes.Equal(dst.Bytes(), blob(0, 1<<20)) {
			return errors.New("stream is not whole")
		}
		return nil
	})
}

// A forger writes over the byte before what it is given, which is in the memory
// of root.
type forger struct{ bytes.Buffer }

func (f *forger) Write(data []byte) (int, error) {
	*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), -1)) = 2 // the root can read no further
	return f.Buffer.Write(data)
}

// TestBroadcastReadsOnce verifies that a rank does not read root's memory again after a check:
// root may have changed it.
func TestBroadcastReadsOnce(t *testing.T) {
	var dst forger
	ringtest.RunOnHosts(t, onOne(2), ring.DefaultConfig(), func(g *ring.Group) error {
		return g.Broadcast(t.Context(), 0, strings.NewReader("x"), &dst)
	})
	if dst.String() != "x" {
		t.Errorf("stream is %q, want x", dst.String())
	}
}

// TestBarrierOnHosts verifies that no rank leaves the barrier before the last one has come.
func TestBarrierOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(1), onOne(5), {0, 1, 1}} {
		var come atomic.Int64
		ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
			for round := range 20 {
				come.Add(1)
				if err := g.Barrier(t.Context()); err != nil {
					return err
				}
				if n := int(come.Load()); n < (round+1)*len(hosts) {
					return fmt.Errorf("hosts=%v: left barrier %d when %d had come", hosts, round, n)
				}
			}
			return nil
		})
	}
}

// TestMixOnHosts verifies that an operation does not overwrite memory that others still read
// for the operation before. Ranks run ahead of each other by up to one operation.
func TestMixOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(3), {0, 1, 1, 0}} {
		ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
			p, rank := len(hosts), g.Membership().Rank
			arena, err := g.Arena(t.Context(), 3000)
			if err != nil {
				return err
			}
			bufs := [][]float32{make([]float32, 3), arena, make([]float32, 2500), arena[100:103]}
			var dst ring.Gathered
			for i := range 200 {
				buf := bufs[i*7%len(bufs)]
				for k := range buf {
					buf[k] = float32(i + rank + k%3)
				}
				if err := sumWithTails(t, g, i, buf, nil); err != nil {
					return err
				}
				for k, v := range buf {
					if want := float32(p*(i+k%3) + p*(p-1)/2); v != want {
						return fmt.Errorf("operation %d: element %d of %d is %g, want %g", i, k, len(buf), v, want)
					}
				}
				if i%3 != 0 {
					continue
				}
				if err := g.AllGather(t.Context(), blob(rank, i), &dst); err != nil {
					return err
				}
				for r := range hosts {
					if !bytes.Equal(dst.At(r), blob(r, i)) {
						return fmt.Errorf("operation %d: bytes of rank %d are wrong", i, r)
					}
				}
			}
			return nil
		})
	}
}

// TestAllocatesNothingOnHosts verifies that an operation allocates nothing once its scratch
// memory has grown.
func TestAllocatesNothingOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(3), {0, 0, 1}} {
		for _, c := range []codec.Codec{nil, codec.Int8} {
			for _, n := range []int{100, 5000, 70_000} {
				for _, arena := range []bool{false, true} {
					t.Run(fmt.Sprintf("hosts=%v/codec=%v/n=%d/arena=%v", hosts, c, n, arena), func(t *testing.T) {
						wantNoAllocations(t, hosts, func(g *ring.Group) func() error {
							r := ring.Reduction{Buf: make([]float32, n), Residual: make([]float32, n), Codec: c, Tails: make([]byte, len(hosts)*ring.TailBytes)}
							if arena {
								a, err := g.Arena(t.Context(), n)
								if err != nil {
									return func() error { return err }
								}
								r.Buf = a
							}
							return func() error { return g.AllReduce(t.Context(), r) }
						})
					})
				}
			}
		}
		t.Run(fmt.Sprintf("hosts=%v/gather", hosts), func(t *testing.T) {
			wantNoAllocations(t, hosts, func(g *ring.Group) func() error {
				mine, dst := make([]byte, 1000), new(ring.Gathered)
				return func() error { return g.AllGather(t.Context(), mine, dst) }
			})
		})
		t.Run(fmt.Sprintf("hosts=%v/barrier", hosts), func(t *testing.T) {
			wantNoAllocations(t, hosts, func(g *ring.Group) func() error {
				return func() error { return g.Barrier(t.Context()) }
			})
		})
	}
}

func wantNoAllocations(t *testing.T, hosts []int, op func(g *ring.Group) func() error) {
	t.Helper()
	ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
		n, err := allocationsOf(g, op(g))
		if n != 0 {
			t.Errorf("%v allocations per operation of all ranks, want 0", n)
		}
		return err
	})
}
