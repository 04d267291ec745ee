package ring_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// onOne is p ranks on one host.
func onOne(p int) []int { return make([]int, p) }

// layouts are the hosts of ranks, by rank: several, with equal and unequal
// numbers of ranks, also in an order that mixes hosts.
func layouts() [][]int {
	return [][]int{
		{0, 1}, {0, 1, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}, {0, 1, 1, 1},
		{0, 0, 1, 1, 1, 2, 2, 2, 2},
		{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2},
	}
}

// hostLengths are those at which shards of p ranks begin to be empty or unequal,
// and at which buffers cease to be small.
func hostLengths(p int) []int {
	return []int{0, 1, 15, 16*p - 1, 16*p + 1, 2047, 2048, 2049, 2048 + 16*p, 3007}
}

// tailOf is the tail of a rank in operation i.
func tailOf(rank, i int) []byte {
	return bytes.Repeat([]byte{byte(rank + 1), byte(i), 0xff, 0}, ring.TailBytes/4)
}

// sums has every rank sum in[i][rank] over all ranks, once in a buffer of its
// own and once at an odd place of an arena, checks the tails, and returns the
// sums by rank, two for each i.
func sums(t *testing.T, hosts []int, in [][][]float32, c codec.Codec) [][][]float32 {
	t.Helper()
	p := len(hosts)
	results := make([][][]float32, p)
	ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
		rank, most := g.Membership().Rank, 0
		for i := range in {
			most = max(most, i+len(in[i][rank]))
		}
		arena, err := g.Arena(t.Context(), most)
		if err != nil {
			return err
		}
		for i := range in {
			outside := slices.Clone(in[i][rank])
			inside := arena[i : i+len(outside)]
			copy(inside, outside)
			for _, buf := range [][]float32{outside, inside} {
				if err := sumWithTails(t, g, i, buf, c); err != nil {
					return err
				}
			}
			results[rank] = append(results[rank], outside, slices.Clone(inside))
		}
		return nil
	})
	if t.Failed() {
		t.FailNow()
	}
	return results
}

// sumWithTails sums buf, in operation i, and checks all tails.
func sumWithTails(t *testing.T, g *ring.Group, i int, buf []float32, c codec.Codec) error {
	m := g.Membership()
	tails := make([]byte, m.Size()*ring.TailBytes)
	copy(tails[m.Rank*ring.TailBytes:], tailOf(m.Rank, i))
	if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Codec: c, Tails: tails}); err != nil {
		return err
	}
	for r := range m.Size() {
		if got := tails[r*ring.TailBytes:][:ring.TailBytes]; !bytes.Equal(got, tailOf(r, i)) {
			return fmt.Errorf("n=%d: tail of rank %d is %x", len(buf), r, got)
		}
	}
	return nil
}

// TestAllReduceOnOneHost verifies that the sum is the float32 sum in order of ranks, bit for
// bit, for buffers of every length, in an arena and outside, with a codec and without.
func TestAllReduceOnOneHost(t *testing.T) {
	for p := 1; p <= 17; p++ {
		var in [][][]float32
		for _, n := range hostLengths(p) {
			in = append(in, inputs(p, n))
		}
		for _, c := range []codec.Codec{nil, codec.Int8} {
			t.Run(fmt.Sprintf("p=%d/codec=%v", p, c), func(t *testing.T) {
				checkInOrder(t, in, sums(t, onOne(p), in, c))
			})
		}
	}
}

// checkInOrder checks that all results are the sum of in, in order of ranks.
func checkInOrder(t *testing.T, in, results [][][]float32) {
	t.Helper()
	for i := range results[0] {
		want := slices.Clone(in[i/2][0])
		for _, x := range in[i/2][1:] {
			for k, v := range x {
				want[k] += v
			}
		}
		for rank, got := range results {
			sameBits(t, fmt.Sprintf("n=%d: rank %d", len(want), rank), got[i], want)
		}
	}
}

// TestAllReduceOnHosts verifies sums over several hosts against float64, and that all ranks
// hold equal bits, for every layout and codec.
func TestAllReduceOnHosts(t *testing.T) {
	for _, hosts := range layouts() {
		var in [][][]float32
		for _, n := range hostLengths(len(hosts)) {
			in = append(in, inputs(len(hosts), n))
		}
		for _, c := range codec.All() {
			t.Run(fmt.Sprintf("hosts=%v/codec=%v", hosts, c), func(t *testing.T) {
				checkAlike(t, c, in, sums(t, hosts, in, c))
			})
		}
	}
}

// checkAlike checks that all results are the sum of in, and equal.
func checkAlike(t *testing.T, c codec.Codec, in, results [][][]float32) {
	t.Helper()
	for i := range results[0] {
		if err := checkSum(c, in[i/2], results[0][i]); err != nil {
			t.Error(err)
		}
		for r := range results {
			sameBits(t, fmt.Sprintf("n=%d: rank %d", len(results[r][i]), r), results[r][i], results[0][i])
		}
	}
}

// TestStaged verifies the sum of a buffer outside of all arenas that is longer than an exchange
// buffer, around the limits of its pieces.
func TestStaged(t *testing.T) {
	const buffer = 1 << 16
	for _, hosts := range [][]int{onOne(3), {0, 0, 1}} {
		var in [][][]float32
		for _, n := range []int{buffer - 1, buffer, buffer + 1, 2*buffer + 17} {
			in = append(in, inputs(len(hosts), n))
		}
		for _, c := range []codec.Codec{nil, codec.Int8} {
			t.Run(fmt.Sprintf("hosts=%v/codec=%v", hosts, c), func(t *testing.T) {
				if results := sums(t, hosts, in, c); hosts[2] == 0 {
					checkInOrder(t, in, results)
				} else {
					if c == nil {
						c = codec.None
					}
					checkAlike(t, c, in, results)
				}
			})
		}
	}
}

// TestNotFiniteOnOneHost verifies that ranks which each sum for themselves keep equal bits if
// several ranks have a NaN.
func TestNotFiniteOnOneHost(t *testing.T) {
	const p = 3
	for _, n := range []int{100, 5000} {
		results := make([][]float32, p)
		ringtest.RunOnHosts(t, onOne(p), small(nil), func(g *ring.Group) error {
			rank := g.Membership().Rank
			buf := make([]float32, n+rank)[rank:] // each at another alignment
			for i := range buf {
				buf[i] = math.Float32frombits(0x7fc00000 + uint32(100*rank+i%50))
				if i%3 == rank {
					buf[i] = float32(math.Inf(rank - 1))
				}
			}
			results[rank] = buf
			return g.AllReduce(t.Context(), ring.Reduction{Buf: buf})
		})
		for rank, got := range results {
			sameBits(t, fmt.Sprintf("n=%d: rank %d", n, rank), got, results[0])
		}
	}
}

// TestResidualOnHosts verifies that the residuals of drivers add up, nearly to the last digit,
// to what the sum lacks, and that a codec loses nothing where there is no wire.
func TestResidualOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(4), {0, 0, 1, 1}, {0, 0, 0, 1}} {
		for _, n := range []int{500, 3001, 1<<16 + 5} {
			p := len(hosts)
			in, lost, results := inputs(p, n), make([][]float32, p), make([][]float32, p)
			ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
				rank := g.Membership().Rank
				r := ring.Reduction{Buf: slices.Clone(in[rank]), Residual: make([]float32, n), Codec: codec.Int8}
				lost[rank], results[rank] = r.Residual, r.Buf
				return g.AllReduce(t.Context(), r)
			})
			for i := range n {
				var want, got, residual float64
				for r := range p {
					want += float64(in[r][i])
					residual += float64(lost[r][i])
				}
				if got = float64(results[0][i]) + residual; !(math.Abs(got-want) <= 1e-4) {
					t.Fatalf("hosts=%v n=%d: element %d: sum and residuals make %g, want %g", hosts, n, i, got, want)
				}
				if hosts[p-1] == 0 && residual != 0 {
					t.Fatalf("hosts=%v n=%d: element %d: %g is lost on one host", hosts, n, i, residual)
				}
			}
		}
	}
}

// TestArenasOnHosts verifies that arenas begin at a cache line and share no memory, and that a
// buffer is summed with the others of its arena.
func TestArenasOnHosts(t *testing.T) {
	for _, hosts := range [][]int{onOne(1), onOne(3), {0, 0, 1}} {
		ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
			p, rank := len(hosts), g.Membership().Rank
			var all [][]float32
			for _, n := range []int{0, 1, 3000, 17, 5000} {
				a, err := g.Arena(t.Context(), n)
				if err != nil {
					return err
				}
				if len(a) != n || cap(a) != n || uintptr(unsafe.Pointer(unsafe.SliceData(a)))%64 != 0 {
					return fmt.Errorf("arena of %d: length %d, capacity %d, address %p", n, len(a), cap(a), a)
				}
				for i, v := range a {
					if v != 0 {
						return fmt.Errorf("arena of %d: element %d is %g, want 0", n, i, v)
					}
				}
				all = append(all, a)
			}
			for k, a := range all {
				for i := range a {
					a[i] = float32((rank + 1) * (k + 1))
				}
			}
			for k, a := range all {
				if err := g.AllReduce(t.Context(), ring.Reduction{Buf: a}); err != nil {
					return err
				}
				for i, v := range a {
					if want := float32(p * (p + 1) / 2 * (k + 1)); v != want {
						return fmt.Errorf("arena %d: element %d is %g, want %g", k, i, v, want)
					}
				}
			}
			return nil
		})
	}
}

// TestLevels verifies that a group knows what its data goes over and whether a codec has a
// wire.
func TestLevels(t *testing.T) {
	type told struct {
		levels     string
		compresses bool
	}
	check := func(want told) func(g *ring.Group) error {
		return func(g *ring.Group) error {
			if got := (told{g.Levels(), g.Compresses()}); got != want {
				return fmt.Errorf("levels are %v, want %v", got, want)
			}
			return nil
		}
	}
	ringtest.Run(t, 1, small(nil), check(told{"flat", false}))
	ringtest.Run(t, 2, small(nil), check(told{"flat", true}))
	ringtest.RunOnHosts(t, onOne(2), small(nil), check(told{"host", false}))
	ringtest.RunOnHosts(t, []int{0, 0, 1}, small(nil), check(told{"two", true}))
}

// counted is memory that knows the cores of its workers.
type counted struct{ ring.Memory }

func (counted) Cores() int { return 5 }

// TestCores verifies that a group passes on how many cores its memory reports: workers bound to
// the same cores would otherwise each take all of them.
func TestCores(t *testing.T) {
	check := func(want int) func(g *ring.Group) error {
		return func(g *ring.Group) error {
			if got := g.Cores(); got != want {
				return fmt.Errorf("cores are %d, want %d", got, want)
			}
			return nil
		}
	}
	over := ringtest.HostTransports(onOne(2))
	for rank := range over {
		over[rank].Memory = counted{over[rank].Memory}
	}
	ringtest.RunOnHostsOver(t, onOne(2), over, small(nil), check(5))
	ringtest.RunOnHosts(t, onOne(2), small(nil), check(0))
	ringtest.Run(t, 2, small(nil), check(0))
}

// TestSentBytesOnHosts verifies that one host uses no link, that drivers send no more than the
// ring's bound for their shards, and that bytes between hosts count as such.
func TestSentBytesOnHosts(t *testing.T) {
	const n = 1 << 16
	for _, tt := range []struct {
		hosts []int
		want  func(rank int) int64 // bytes of float32s that the rank sends, without headers
	}{
		{onOne(4), func(int) int64 { return 0 }},
		{[]int{0, 0, 1, 1}, func(int) int64 { return 4 * n / 2 }},
		{[]int{0, 0, 0, 1}, func(rank int) int64 {
			if rank == 1 || rank == 2 {
				return 0
			}
			return 4 * n
		}},
	} {
		ringtest.RunOnHosts(t, tt.hosts, ring.DefaultConfig(), func(g *ring.Group) error {
			buf, err := g.Arena(t.Context(), n)
			if err == nil {
				err = g.AllReduce(t.Context(), ring.Reduction{Buf: buf})
			}
			if err != nil {
				return err
			}
			total, between := g.SentBytes()
			want := tt.want(g.Membership().Rank)
			if total != between || total < want || total > want+want/1000 {
				return fmt.Errorf("hosts=%v: sent %d bytes, %d between hosts, want %d and headers", tt.hosts, total, between, want)
			}
			return nil
		})
	}
}
