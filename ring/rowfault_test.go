package ring_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// rowTables are the tables of sumRowsOnce.
var rowTables = []ring.Table{{Rows: 1 << 20, Width: 1}, {Rows: 1 << 16, Width: 3}}

// sumRowsOnce makes a RowSum and sums once. Operation 0 makes the RowSum, operation 1 sums. Over
// links collective 0 is the all-reduce of the counts and collective 1 the exchange of rows. Each
// rank has rows of several frames.
func sumRowsOnce(t *testing.T, g *ring.Group) error {
	s, err := g.NewRowSum(t.Context(), rowTables)
	if err != nil {
		return err
	}
	m := g.Membership()
	for i, table := range rowTables {
		ids, values := s.Input(i, 2000)
		for k := range ids {
			ids[k] = uint32(k) * (table.Rows / 2000)
		}
		for k := range values {
			values[k] = float32(m.Rank + 1)
		}
	}
	return g.SumRows(t.Context(), s, make([]float32, 10), make([]byte, m.Size()*ring.TailBytes))
}

// runRows runs sumRowsOnce on all ranks over mesh and returns their errors.
func runRows(t *testing.T, mesh []ring.Transport) []error {
	errs := make([]error, len(mesh))
	overMesh(t, mesh, faulty(), func(g *ring.Group) error {
		errs[g.Membership().Rank] = sumRowsOnce(t, g)
		return nil // the other ranks must find out by themselves
	})
	return errs
}

// inEachRowFrame runs test for a fault in each of the first frames of rows that rank 1 sends:
// with four ranks, over the link of each round; with three, around the ring.
func inEachRowFrame(t *testing.T, f ringtest.Fault, test func(t *testing.T, partner int, errs []error)) {
	const faulty = 1
	f.Op = 1
	for round, partner := range []int{0, 3} {
		for segment := range 3 {
			f.Segment = uint32(segment)
			t.Run(fmt.Sprintf("round=%d/segment=%d", round, segment), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					mesh := memlink.Mesh(4)
					mesh[faulty].Rounds[round] = ringtest.WithFault(mesh[faulty].Rounds[round], f)
					test(t, partner, runRows(t, mesh))
				})
			})
		}
	}
	for segment := range 3 {
		f.Segment = uint32(segment)
		t.Run(fmt.Sprintf("ring/segment=%d", segment), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mesh := memlink.Mesh(3)
				mesh[faulty].Ring = ringtest.WithFault(mesh[faulty].Ring, f)
				test(t, 2, runRows(t, mesh))
			})
		})
	}
}

// TestRowSumCorruptFrames changes frames of rows. It verifies that the receiver refuses them and
// names the sender.
func TestRowSumCorruptFrames(t *testing.T) {
	for name, change := range map[string]func(f *ring.Frame){
		"kind":      func(f *ring.Frame) { f.Kind = ring.KindClose },
		"operation": func(f *ring.Frame) { f.Op++ },
		"segment":   func(f *ring.Frame) { f.Segment++ },
		"codec":     func(f *ring.Frame) { f.Codec = 1 },
		"shorter":   func(f *ring.Frame) { f.Payload = f.Payload[:len(f.Payload)-1] },
		"longer":    func(f *ring.Frame) { f.Payload = append(f.Payload, make([]byte, 5000)...) },
		"empty":     func(f *ring.Frame) { f.Payload = nil },
	} {
		t.Run("change="+name, func(t *testing.T) {
			inEachRowFrame(t, ringtest.Fault{Kind: ringtest.Corrupt, Change: change}, func(t *testing.T, partner int, errs []error) {
				wantPeer(t, errs[partner], 1, exitcode.Protocol)
				if !errors.Is(errs[partner], ring.ErrCorruptFrame) {
					t.Errorf("error %v, want ring.ErrCorruptFrame", errs[partner])
				}
			})
		})
	}
	f := ringtest.Fault{Kind: ringtest.Corrupt, Change: func(f *ring.Frame) { f.Length++ }}
	inEachRowFrame(t, f, func(t *testing.T, partner int, errs []error) {
		wantPeer(t, errs[partner], 1, exitcode.Protocol)
		if !errors.Is(errs[partner], ring.ErrRanksDiffer) || !strings.Contains(fmt.Sprint(errs[partner]), "checksum of the tables") {
			t.Errorf("error %v, want ring.ErrRanksDiffer about the tables", errs[partner])
		}
	})
}

// TestRowSumCorruptBlocks changes the first block of rows that a rank sends. It verifies that
// the receiver refuses ids out of range and counts that do not fit the bytes, and names the
// sender.
func TestRowSumCorruptBlocks(t *testing.T) {
	for name, change := range map[string]func(block []byte){
		"many rows":  func(b []byte) { binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)|0xffff) },
		"no rows":    func(b []byte) { binary.LittleEndian.PutUint32(b, 0) },
		"wide gaps":  func(b []byte) { binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)|7<<16) },
		"other bits": func(b []byte) { b[3] |= 8 },
		"last":       func(b []byte) { b[3] |= 0x80 },
		"no row": func(b []byte) {
			head := binary.LittleEndian.Uint32(b)
			for i := range min(int(head&0xffff*(head>>16&7)), len(b)-4) {
				b[4+i] = 0xff
			}
		},
	} {
		for p, at := range map[int]int{4: 0, 3: 8} { // around the ring the length of the message comes first
			t.Run(fmt.Sprintf("%s/p=%d", name, p), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					mesh := memlink.Mesh(p)
					link := &mesh[1].Ring
					partner := 2
					if p == 4 {
						link, partner = &mesh[1].Rounds[0], 0
					}
					*link = ringtest.WithFault(*link, ringtest.Fault{Op: 1, Kind: ringtest.Corrupt, Change: func(f *ring.Frame) { change(f.Payload[at:]) }})
					errs := runRows(t, mesh)
					wantPeer(t, errs[partner], 1, exitcode.Protocol)
					if !strings.Contains(fmt.Sprint(errs[partner]), ring.ErrCorruptFrame.Error()+": table ") { // another rank may have reported it
						t.Errorf("error %v, want ring.ErrCorruptFrame about a table", errs[partner])
					}
				})
			})
		}
	}
}

// TestRowSumCut cuts links at frames of rows. It verifies that the rank that cannot send names
// its partner, and that no rank hangs.
func TestRowSumCut(t *testing.T) {
	inEachRowFrame(t, ringtest.Fault{Kind: ringtest.Cut}, func(t *testing.T, partner int, errs []error) {
		wantPeer(t, errs[1], partner, exitcode.Retry)
		for rank, err := range errs {
			if _, ok := errors.AsType[*ring.PeerError](err); err != nil && !ok {
				t.Errorf("rank %d: error %v, want a PeerError", rank, err)
			}
		}
	})
}

// TestRowSumSilence drops frames of rows. It verifies that the rank that waits for them names
// the sender and the operation, and that no rank hangs.
func TestRowSumSilence(t *testing.T) {
	inEachRowFrame(t, ringtest.Fault{Kind: ringtest.Silence}, func(t *testing.T, partner int, errs []error) {
		wantPeer(t, errs[partner], 1, exitcode.Retry)
		if pe, ok := errors.AsType[*ring.PeerError](errs[partner]); !ok || pe.Op != "rows" || pe.Seq != 1 {
			t.Errorf("error %v, want one of rows 1", errs[partner])
		}
	})
}

// TestRowSumCutAcross cuts the links of a driver to other hosts at each frame of rows. It
// verifies that all workers of its host blame a rank of another host, and that no rank hangs.
func TestRowSumCutAcross(t *testing.T) {
	for _, hosts := range [][]int{{0, 0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 1, 1, 2, 2}} {
		cuts := 0
		for segment := range 20 {
			synctest.Test(t, func(t *testing.T) {
				over := ringtest.HostTransports(hosts)
				link := &over[1].Across.Ring
				if len(hosts) == 9 {
					link = &over[1].Across.Rounds[1]
				}
				*link = ringtest.WithFault(*link, ringtest.Fault{Segment: uint32(segment), Kind: ringtest.Cut}) // of its first operation: the first of two drivers has the bucket
				errs := make([]error, len(hosts))
				ringtest.RunOnHostsOver(t, hosts, over, faulty(), func(g *ring.Group) error {
					errs[g.Membership().Rank] = sumRowsOnce(t, g)
					return nil
				})
				if errs[1] == nil {
					return // no such frame
				}
				cuts++
				for rank, err := range errs {
					if hosts[rank] != hosts[1] {
						continue
					}
					if pe, ok := errors.AsType[*ring.PeerError](err); !ok || hosts[pe.Rank] == hosts[1] || exitcode.Of(err) != exitcode.Retry {
						t.Errorf("segment %d: rank %d, of the host of the driver: error %v, want one that blames a rank of another host", segment, rank, err)
					}
				}
			})
		}
		if cuts < 4 {
			t.Errorf("hosts=%v: %d frames were cut, want 4 or more", hosts, cuts)
		}
	}
}

// TestRowSumWrongIDs makes one rank pass ids that do not ascend or are out of range. It verifies
// that all ranks end with exitcode.Protocol, and that the ranks which share its memory name it.
func TestRowSumWrongIDs(t *testing.T) {
	const wrong = 2
	for name, change := range map[string]func(ids []uint32){
		"equal":   func(ids []uint32) { ids[7] = ids[6] },
		"falling": func(ids []uint32) { ids[500], ids[501] = ids[501], ids[500] },
		"no row":  func(ids []uint32) { ids[999] = rowTables[0].Rows },
		"first":   func(ids []uint32) { ids[0] = 1 << 31 },
	} {
		for _, hosts := range [][]int{onOne(4), {0, 0, 0, 1}, {0, 1, 2, 3}, nil} {
			t.Run(fmt.Sprintf("%s/hosts=%v", name, hosts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					over, start := memlink.Mesh(4), time.Now()
					if hosts != nil {
						over = ringtest.HostTransports(hosts)
					}
					op := func(g *ring.Group) error {
						rank := g.Membership().Rank
						s, err := g.NewRowSum(t.Context(), rowTables)
						if err == nil { // otherwise the faulty rank has ended the group already
							ids, _ := s.Input(0, 1000)
							for k := range ids {
								ids[k] = uint32(k) * 1000
							}
							if rank == wrong {
								change(ids)
							}
							err = g.SumRows(t.Context(), s, nil, nil)
						}
						if pe, ok := errors.AsType[*ring.PeerError](err); exitcode.Of(err) != exitcode.Protocol || rank != wrong && (!ok || pe.Rank != wrong) {
							t.Errorf("rank %d: error %v with exit code %d, want one that names rank %d, with %d", rank, err, exitcode.Of(err), wrong, exitcode.Protocol)
						}
						if rank == wrong && !strings.Contains(fmt.Sprint(err), "table 0: id ") {
							t.Errorf("rank %d: error %v, want one about an id of table 0", rank, err)
						}
						return nil
					}
					if hosts == nil {
						overMesh(t, over, faulty(), op)
					} else {
						ringtest.RunOnHostsOver(t, hosts, over, faulty(), op)
					}
					if took := time.Since(start); took > time.Second {
						t.Errorf("took %v, want no wait", took)
					}
				})
			})
		}
	}
}

// bufferForger is a Memory whose worker overwrites its exchange buffer, or its ids of table 0,
// before one Sync or Exchange.
type bufferForger struct {
	ring.Memory
	local, at, meetings int
	arenas              [][]float32
	words               []uint32
	ids                 bool
}

func (f *bufferForger) Arena(ctx context.Context, n int) ([][]float32, error) {
	parts, err := f.Memory.Arena(ctx, n)
	if err == nil {
		f.arenas = append(f.arenas, parts[f.local])
	}
	return parts, err
}

func (f *bufferForger) Sync(ctx context.Context) error {
	f.meet()
	return f.Memory.Sync(ctx)
}

func (f *bufferForger) Exchange(ctx context.Context, mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	f.meet()
	return f.Memory.Exchange(ctx, mine, all)
}

// meet overwrites the memory if the next meeting is the chosen one.
func (f *bufferForger) meet() {
	if f.meetings++; f.meetings == f.at {
		const size, head = 1<<16 + 32, 16 // words of a buffer with its tail, and words before its data
		if f.ids {
			forge(f.arenas[1], f.words)
		} else { // the second agreement uses buffer 1; the third uses buffer 0 and follows a Sync
			forge(f.arenas[0][size*(f.at/2%2)+head:], f.words)
		}
	}
}

// TestRowSumForgedBuffers makes one rank of a host post false row counts or a false place of its
// part of the sum. It verifies that the others refuse numbers that lead out of the memory, and
// name the rank.
func TestRowSumForgedBuffers(t *testing.T) {
	const wrong = 1
	for name, tt := range map[string]struct {
		at    int
		words []uint32
		ids   bool
		says  string
	}{
		"counts": {2, []uint32{1<<20 + 1, 2000}, false, "table 0: 1048577 rows, want at most 1048576"},
		"place":  {4, []uint32{0, 1, 1 << 31, 5, 0, 1, 0, 1}, false, "table 0: rows from 2147483648 to 2147483653"},
		"size":   {4, []uint32{0, 1, 0, 5, 0, 1, 0, 0xffffffff}, false, "table 1: rows from 0 to 4294967295"},
		"equal":  {3, []uint32{0, 1, 1}, true, "table 0: id 2 is 1, want more than the one before"},
		"no row": {3, []uint32{1 << 20}, true, "table 0: id 0 is 1048576, want less than 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := ringtest.HostTransports(onOne(3))
				over[wrong].Memory = &bufferForger{Memory: over[wrong].Memory, local: wrong, at: tt.at, words: tt.words, ids: tt.ids}
				ringtest.RunOnHostsOver(t, onOne(3), over, faulty(), func(g *ring.Group) error {
					err := sumRowsOnce(t, g)
					if g.Membership().Rank != wrong || exitcode.Of(err) == exitcode.Protocol {
						wantPeer(t, err, wrong, exitcode.Protocol) // the faulty rank itself may only see that others leave
					} else if err != nil {
						return nil
					}
					if !strings.Contains(fmt.Sprint(err), tt.says) {
						t.Errorf("rank %d: error %v, want %q", g.Membership().Rank, err, tt.says)
					}
					return nil
				})
			})
		})
	}
}

// TestRowSumTables verifies that tables out of range, and tables that differ among ranks, are
// errors.
func TestRowSumTables(t *testing.T) {
	ringtest.Run(t, 1, small(nil), func(g *ring.Group) error {
		for _, tables := range [][]ring.Table{{{0, 1}}, {{1, 0}}, {{1<<31 + 1, 1}}, {{1, 1<<16 + 1}}, make([]ring.Table, ring.MaxTables+1)} {
			if _, err := g.NewRowSum(t.Context(), tables); exitcode.Of(err) != exitcode.Usage {
				t.Errorf("%d tables, the first %v: error %v, want one with exit code %d", len(tables), tables[0], err, exitcode.Usage)
			}
		}
		return nil
	})
	for _, hosts := range [][]int{onOne(3), {0, 1, 2}} {
		synctest.Test(t, func(t *testing.T) {
			ringtest.RunOnHosts(t, hosts, faulty(), func(g *ring.Group) error {
				width := 1
				if g.Membership().Rank == 2 {
					width = 2
				}
				s, err := g.NewRowSum(t.Context(), []ring.Table{{100, width}})
				if err == nil {
					err = g.SumRows(t.Context(), s, nil, nil)
				}
				if exitcode.Of(err) != exitcode.Protocol || !strings.Contains(fmt.Sprint(err), "checksum of the tables") {
					t.Errorf("rank %d: error %v with exit code %d, want %d about the tables", g.Membership().Rank, err, exitcode.Of(err), exitcode.Protocol)
				}
				return nil
			})
		})
	}
}

// forge writes words over elements.
func forge(dst []float32, words []uint32) {
	copy(unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)), words)
}
