package join

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/order"
	"ringtrain/ring/ringtest"
	"ringtrain/ring/token"
)

// slow is a link whose frames take their time.
type slow struct {
	ring.Link
	rate func() float64 // bytes per second
}

func (s slow) Send(ctx context.Context, f ring.Frame) error {
	time.Sleep(time.Millisecond + time.Duration(float64(len(f.Payload))/s.rate()*1e9))
	return s.Link.Send(ctx, f)
}

// surveys returns the surveys of all ranks over memory, on hosts named by one letter
// each. The link from host i to host j does rate(i, j).
func surveys(t *testing.T, hosts string, rate func(i, j int) float64) []*bandwidthSurvey {
	t.Helper()
	all := make([]*bandwidthSurvey, len(hosts))
	for rank, link := range memlink.Ring(len(hosts)) {
		m := hostsOf(hosts, rank)
		rule, err := order.Parse("measured")
		if err != nil {
			t.Fatal(err)
		}
		if m.Order, err = rule.Of(m.HostRanks()); err != nil || m.Order.Workers != nil {
			t.Fatalf("order %v, error %v, want that of ranks: the links are", m.Order, err)
		}
		g, err := ring.New(t.Context(), m, ring.Transport{Ring: link}, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		s := &bandwidthSurvey{group: g, began: time.Now(), hosts: m.HostRanks(), host: -1}
		for h, ranks := range s.hosts {
			if ranks[0] == rank {
				s.host, s.pairs, s.rates = h, make([]probe, len(s.hosts)), make([]float64, len(s.hosts))
			}
		}
		all[rank] = s
		t.Cleanup(s.close)
	}
	for i, ranks := range all[0].hosts {
		for j := range i {
			a, b := memlink.Pair()
			lower := all[0].hosts[j][0]
			all[ranks[0]].pairs[j] = probe{link: slow{a, func() float64 { return rate(i, j) }}, generation: 1}
			all[lower].pairs[i] = probe{link: slow{b, func() float64 { return rate(j, i) }}, generation: 1}
		}
	}
	return all
}

// agreed runs all surveys and returns the one order that they find.
func agreed(t *testing.T, all []*bandwidthSurvey) order.Order {
	t.Helper()
	found := make([]order.Order, len(all))
	var running sync.WaitGroup
	for rank, s := range all {
		running.Go(func() {
			var err error
			if found[rank], err = s.order(t.Context()); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	running.Wait()
	for rank, o := range found {
		if fmt.Sprint(o) != fmt.Sprint(found[0]) {
			t.Errorf("rank %d has order %+v, rank 0 %+v: they would wait for each other", rank, o, found[0])
		}
	}
	return found[0]
}

// TestSurvey verifies that a slow pair of hosts leaves the ring, that one that was slow once
// stays, that all ranks choose the same order, and that each rate is that of the link in its
// direction.
func TestSurvey(t *testing.T) {
	const fast = 100e6
	for _, tt := range []struct {
		name, hosts string
		slow        func(i, j, times int) float64 // rate as a share of fast
		want        string                        // "": the order of ranks
	}{
		{"alike", "abcd", func(int, int, int) float64 { return 1 }, ""},
		{"slow pair", "abcd", func(i, j, _ int) float64 {
			if i+j == 1 {
				return 0.1
			}
			return 1
		}, "0,2,1,3"},
		{"slow pair of uneven hosts", "aabcdde", func(i, j, _ int) float64 {
			if i+j == 1 {
				return 0.001
			}
			return 1
		}, "0,1,3,2,4,5,6"},
		{"slow one way", "abc", func(i, j, _ int) float64 {
			if i == 1 && j == 2 {
				return 0.1
			}
			return 1
		}, "0,2,1"},
		{"slow in the beginning", "abcd", func(i, j, times int) float64 {
			if i+j == 1 && times < 8 {
				return 0.1
			}
			return 1
		}, ""},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				times := map[[2]int]int{}
				all := surveys(t, tt.hosts, func(i, j int) float64 {
					mu.Lock()
					defer mu.Unlock()
					times[[2]int{i, j}]++
					return fast * tt.slow(i, j, times[[2]int{i, j}])
				})
				if got := agreed(t, all); order.Format(got.Workers) != tt.want || !got.Measured || got.Why == "" {
					t.Errorf("order %+v, want %q", got, tt.want)
				}
				for i, ranks := range all[0].hosts {
					for j, rate := range all[ranks[0]].rates {
						want := fast * tt.slow(i, j, 100)
						if i != j && !(math.Abs(rate/want-1) <= 0.01) {
							t.Errorf("from host %d to %d: %g bytes per second, want %g", i, j, rate, want)
						}
					}
				}
			})
		})
	}
}

// TestRates verifies that invalid rates of another rank are refused.
func TestRates(t *testing.T) {
	row := func(rates ...float64) []byte {
		b := make([]byte, 8)
		for _, r := range rates {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r))
		}
		return b
	}
	if got, err := decodeRates(row(0, 3), 2); err != nil || !slices.Equal(got, []float64{0, 3}) {
		t.Errorf("rates %v, error %v", got, err)
	}
	for _, bad := range [][]byte{nil, row(1), row(1, 2, 3), row(1, 2)[:23], row(1, math.NaN()), row(math.Inf(1), 1), row(-1, 1)} {
		if got, err := decodeRates(bad, 2); err == nil {
			t.Errorf("%d bytes are taken for rates %v", len(bad), got)
		}
	}
}

// ground is workers that have met, on hosts of which the test has its own idea.
type ground struct {
	members []ring.Membership
	hubs    []*endpoint
	config  Config
}

func newGround(t *testing.T, hosts string) *ground {
	t.Helper()
	g := &ground{config: Config{Token: token.New(), StartTimeout: 5 * time.Second}}
	var workers []ring.Worker
	for rank := range len(hosts) {
		h, err := openWorkerEndpoint(place.Place{Rank: rank, Listen: "127.0.0.1:0"}, g.config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.close)
		g.hubs = append(g.hubs, h)
		w := hostsOf(hosts, rank).Workers[rank]
		w.Addr, w.Incarnation = h.port.Addr(), uint64(rank)+1
		workers = append(workers, w)
	}
	for rank := range workers {
		m := hostsOf(hosts, rank)
		m.Workers = slices.Clone(workers)
		g.members = append(g.members, m)
	}
	return g
}

// find has all ranks find the order by a rule. If one fails the others end.
func (g *ground) find(t *testing.T, rule string) ([]order.Order, []error) {
	t.Helper()
	o, err := order.Parse(rule)
	if err != nil {
		t.Fatal(err)
	}
	g.config.Order = o
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	found, errs := make([]order.Order, len(g.hubs)), make([]error, len(g.hubs))
	var all sync.WaitGroup
	for rank, h := range g.hubs {
		all.Go(func() {
			if found[rank], errs[rank] = (&Team{endpoint: h}).findOrder(ctx, g.members[rank], g.config); errs[rank] != nil {
				cancel(ring.ErrGenerationEnded)
			}
		})
	}
	all.Wait()
	return found, errs
}

// TestFindOrder verifies that ranks find the same order over real links, do not measure if one
// of them knows the order already, and refuse an order that does not fit.
func TestFindOrder(t *testing.T) {
	noLeak(t)
	for _, tt := range []struct {
		name, hosts, rule, link string
		kept                    map[int][]int // by rank
		want                    string        // "": any measured order
	}{
		{"measured", "abcbd", "auto", "tcp", nil, ""},
		{"not measured", "abcb", "auto", "tcp", map[int][]int{0: {3, 2, 1, 0}}, "0,1,3,2"},
		{"kept by one", "abcd", "auto", "tcp", map[int][]int{2: {0, 3, 1, 2}}, "0,3,1,2"},
		{"kept by two", "abcd", "auto", "tcp", map[int][]int{1: {0, 2, 1, 3}, 2: {0, 3, 1, 2}}, "0,2,1,3"},
		{"kept, but of another world", "abcd", "auto", "tcp", map[int][]int{0: {0, 2, 1}, 3: {3, 2, 1, 0}}, "3,2,1,0"},
		{"list", "abcd", "2,0,1,3", "tcp", map[int][]int{0: {0, 2, 1, 3}}, "2,0,1,3"},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			g := newGround(t, tt.hosts)
			g.config.Link = tt.link
			g.config.KeptOrder = func(rank int) []int { return tt.kept[rank] }
			found, errs := g.find(t, tt.rule)
			for rank, o := range found {
				if errs[rank] != nil {
					t.Fatalf("rank %d: %v", rank, errs[rank])
				}
				if fmt.Sprint(o) != fmt.Sprint(found[0]) {
					t.Errorf("rank %d has order %+v, rank 0 %+v", rank, o, found[0])
				}
			}
			switch o := found[0]; {
			case tt.want == "" && (!o.Measured || !strings.Contains(o.Why, "slowest hop")):
				t.Errorf("order %+v, want one that was measured", o)
			case tt.want != "" && order.Format(o.Workers) != tt.want:
				t.Errorf("order %+v, want %s", o, tt.want)
			}
		})
	}
}

// TestFindOrderUnreachable verifies that two hosts which cannot reach each other, and are no
// neighbours, are named as a link of the ring would name them.
func TestFindOrderUnreachable(t *testing.T) {
	noLeak(t)
	g := newGround(t, "abcd")
	g.config.StartTimeout = 2 * time.Second
	g.members[0].Workers[2].Addr = ringtest.RefusedAddress(t)
	_, errs := g.find(t, "measured")
	pe, ok := errors.AsType[*ring.PeerError](errs[0])
	if !ok || pe.Op != opDial || pe.Rank != 2 || pe.Addr != g.members[0].Workers[2].Addr || exitcode.Of(errs[0]) != exitcode.Retry {
		t.Errorf("error %v, want one of the handshake with rank 2 at %s", errs[0], g.members[0].Workers[2].Addr)
	}
	for rank, err := range errs {
		if err == nil {
			t.Errorf("rank %d goes on", rank)
		}
	}
}

// TestFindOrderMisfit verifies that a list of other ranks than the job's is refused.
func TestFindOrderMisfit(t *testing.T) {
	g := newGround(t, "abcd")
	_, errs := g.find(t, "0,2,1")
	for rank, err := range errs {
		if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "rank 3 is not in it, want each of 0 to 3 once") {
			t.Errorf("rank %d: error %v, want one about rank 3, with code %d", rank, err, exitcode.Usage)
		}
	}
}

// TestMeasureBreaks verifies that the error names a worker that dies during the measurement.
func TestMeasureBreaks(t *testing.T) {
	a, b := memlink.Pair()
	b.Close()
	defer a.Close()
	p := probe{link: a, partner: ring.Worker{Rank: 3, Addr: "there:1"}, generation: 1}
	for _, first := range []bool{true, false} {
		_, err := p.measure(t.Context(), first)
		pe, ok := errors.AsType[*ring.PeerError](err)
		if !ok || pe.Op != opDial || pe.Rank != 3 || pe.Addr != "there:1" || !strings.Contains(err.Error(), "measure the bandwidth") {
			t.Errorf("first=%v: error %v, want one that names rank 3", first, err)
		}
	}
}
