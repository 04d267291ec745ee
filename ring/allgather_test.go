package ring_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// blob returns what rank puts into a gather or broadcast.
func blob(rank, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed, byte(rank)}).Read(b)
	return b
}

// TestAllGather verifies that every rank gets the bytes of every rank: with equal and different
// lengths, without bytes, with whole frames, and with one byte more or less.
func TestAllGather(t *testing.T) {
	const frame = 1<<10 - 8 // without the length, which the first frame also has
	rounds := [][]int{      // length of rank r's bytes is [r % len]
		{0}, {1}, {100}, {0, 5, 0}, {frame - 1, frame, frame + 1}, {7, 3*frame + 5}, {2 * frame}, {3},
	}
	for _, p := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) {
			ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
				var dst ring.Gathered
				for _, lens := range rounds {
					mine := g.Membership().Rank
					if err := g.AllGather(t.Context(), blob(mine, lens[mine%len(lens)]), &dst); err != nil {
						return err
					}
					for r := range p {
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

// TestAllGatherAbovePayload verifies bytes that do not fit into a frame, and ranks with few and
// many bytes together, which send on one goroutine and on two.
func TestAllGatherAbovePayload(t *testing.T) {
	blobs := [][]byte{blob(0, ring.MaxPayloadBytes+12345), blob(1, 64<<10-8), blob(2, 64<<10-7)}
	ringtest.Run(t, len(blobs), ring.DefaultConfig(), func(g *ring.Group) error {
		var dst ring.Gathered
		if err := g.AllGather(t.Context(), blobs[g.Membership().Rank], &dst); err != nil {
			return err
		}
		for r, want := range blobs {
			if !bytes.Equal(dst.At(r), want) {
				return fmt.Errorf("bytes of rank %d are wrong", r)
			}
		}
		return nil
	})
}

// TestBroadcast verifies that every rank gets the stream of root, for every root and for
// lengths around whole frames.
func TestBroadcast(t *testing.T) {
	const frame = 1<<10 - 1 // without the first byte
	for _, p := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) {
			ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
				for root := range p {
					for _, n := range []int{0, 1, frame - 1, frame, frame + 1, 5*frame + 77} {
						want := blob(root, n)
						var src *bytes.Reader
						var dst bytes.Buffer
						if g.Membership().Rank == root {
							src = bytes.NewReader(want)
						}
						if err := g.Broadcast(t.Context(), root, src, &dst); err != nil {
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

// halfReader fails in the middle of the second frame.
type halfReader struct{ left int }

var errDisk = errors.New("disk is gone")

func (r *halfReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, errDisk
	}
	n := min(len(p), r.left)
	r.left -= n
	return n, nil
}

func (r *halfReader) Write(p []byte) (int, error) { return r.Read(p) }

// TestBroadcastReaderFails verifies that no rank takes a stream that root could not read to its
// end for a whole one, and that each rank names root.
func TestBroadcastReaderFails(t *testing.T) {
	const p, root = 4, 1
	ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
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
		if err := g.Barrier(t.Context()); !errors.Is(err, ring.ErrGenerationEnded) {
			return fmt.Errorf("error after the failure is %v, want ring.ErrGenerationEnded", err)
		}
		return nil
	})
}

// TestBroadcastWriterFails verifies that the full disk of one rank does not keep the stream
// from the ranks behind it.
func TestBroadcastWriterFails(t *testing.T) {
	const p, n = 4, 1 << 20
	ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
		if rank := g.Membership().Rank; rank == 2 {
			if err := g.Broadcast(t.Context(), 0, nil, &halfReader{300 << 10}); !errors.Is(err, errDisk) {
				return fmt.Errorf("error %v, want %v", err, errDisk)
			}
			return nil
		}
		var dst bytes.Buffer
		if err := g.Broadcast(t.Context(), 0, bytes.NewReader(blob(0, n)), &dst); err != nil {
			return err
		}
		if rank := g.Membership().Rank; rank != 0 && !bytes.Equal(dst.Bytes(), blob(0, n)) {
			return errors.New("stream is not whole")
		}
		return nil
	})
}

// TestAnnouncedLength verifies that the length in the first frame of an all-gather reserves no
// memory. A peer that announces a GiB, sends one frame and ends makes a rank allocate a few
// frames only.
func TestAnnouncedLength(t *testing.T) {
	links := memlink.Ring(2)
	links[1] = ringtest.WithFault(links[1], ringtest.Fault{Kind: ringtest.Corrupt, Change: func(f *ring.Frame) {
		binary.LittleEndian.PutUint64(f.Payload, ring.MaxGatheredBytes-100)
	}})
	mine := make([]byte, 1<<20) // as many as fill the first frame
	ringtest.RunOver(t, links, ring.DefaultConfig(), func(g *ring.Group) error {
		if g.Membership().Rank == 1 {
			return errors.Join(g.AllGather(t.Context(), mine, new(ring.Gathered)), g.Close())
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := g.AllGather(t.Context(), nil, new(ring.Gathered))
		runtime.ReadMemStats(&after)
		if err == nil {
			return errors.New("no error, though most of the bytes never came")
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
			return fmt.Errorf("%d MiB were allocated for one frame (%v)", got>>20, err)
		}
		return nil
	})
}
