package join

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// hostsOf returns the membership of rank among workers on hosts named by one
// letter each, such as "aab".
func hostsOf(hosts string, rank int) ring.Membership {
	m := ring.Membership{JobID: "j", Generation: 1, Rank: rank}
	for r, h := range hosts {
		m.Workers = append(m.Workers, ring.Worker{Rank: r, HostID: string(h), Addr: fmt.Sprintf("memory:%d", r)})
	}
	return m
}

// TestLayout verifies that a job opens exactly the sockets that it needs.
func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		hosts string
		rank  int
		flat  bool
		want  string // memory; then links of the ring, the rounds, the drivers' ring, the drivers' rounds
	}{
		{"a", 0, false, "false 0 0 0 0"},
		{"aaaa", 1, false, "true 0 0 0 0"}, // one host: no socket
		{"aaaa", 1, true, "false 1 2 0 0"},
		{"abcd", 1, false, "false 1 2 0 0"}, // one worker a host: the plain ring
		{"aabb", 1, false, "true 1 0 1 1"},
		{"abab", 1, false, "true 1 0 1 1"},
		{"aabb", 1, true, "false 1 2 0 0"},
		{"aaabb", 2, false, "true 1 0 0 0"}, // no driver
		{"aaab", 0, false, "true 1 0 1 1"},
		{"aaab", 3, false, "false 1 0 1 1"}, // alone on its host
		{"aabbcc", 0, false, "true 1 0 1 2"},
	} {
		t.Run(fmt.Sprintf("hosts=%s/rank=%d/flat=%v", tt.hosts, tt.rank, tt.flat), func(t *testing.T) {
			l := layoutOf(hostsOf(tt.hosts, tt.rank), tt.flat)
			got := fmt.Sprintln(l.memory, len(l.ring), len(l.rounds), len(l.acrossRing), len(l.acrossRounds))
			if strings.TrimSpace(got) != tt.want {
				t.Errorf("layout %s want %s", got, tt.want)
			}
		})
	}
}

// TestLayoutShared verifies that all ranks of a job report the same link.
func TestLayoutShared(t *testing.T) {
	for hosts, want := range map[string]bool{"aaab": true, "abcc": true, "abc": false, "aaa": true} {
		for rank := range len(hosts) {
			if got := layoutOf(hostsOf(hosts, rank), false).shared; got != want {
				t.Errorf("hosts=%s rank=%d: shared is %v, want %v", hosts, rank, got, want)
			}
			if layoutOf(hostsOf(hosts, rank), true).shared {
				t.Errorf("hosts=%s rank=%d: shared although all is flat", hosts, rank)
			}
		}
	}
}

// TestRoutesMeet verifies that each worker expects exactly the workers that dial it: otherwise
// both would wait until their timeout.
func TestRoutesMeet(t *testing.T) {
	for _, hosts := range []string{"aaaa", "abcd", "aabb", "abab", "aaabb", "aaab", "aabbcc", "abcabcabc", "aaaabc"} {
		for _, flat := range []bool{false, true} {
			dialled, expected := map[string]int{}, map[string]int{}
			for rank := range len(hosts) {
				for _, r := range layoutOf(hostsOf(hosts, rank), flat).routes() {
					if r.To >= 0 {
						dialled[fmt.Sprint(rank, r.To, r.Stream)]++
					}
					if r.From >= 0 {
						expected[fmt.Sprint(r.From, rank, r.Stream)]++
					}
				}
			}
			for link, n := range dialled {
				if n != 1 || expected[link] != 1 {
					t.Errorf("hosts=%s flat=%v: link %s (from, to, stream) is dialled %d times and expected %d times, want once each", hosts, flat, link, n, expected[link])
				}
			}
			if none := hosts == "aaaa" && !flat; (len(dialled) == 0) != none {
				t.Errorf("hosts=%s flat=%v: %d links", hosts, flat, len(dialled))
			}
			if len(dialled) != len(expected) {
				t.Errorf("hosts=%s flat=%v: %d links dialled, %d expected", hosts, flat, len(dialled), len(expected))
			}
		}
	}
}

// TestRoutesMeetInOrder verifies that a ring, and one of drivers, visits all workers in the
// given order.
func TestRoutesMeetInOrder(t *testing.T) {
	for _, tt := range []struct {
		hosts string
		flat  bool
		order []int
		want  map[uint8]string // by stream: the ring from the first of the order on
	}{
		{"abab", true, []int{0, 2, 1, 3}, map[uint8]string{ring.StreamRing: "0 2 1 3"}},
		{"abcd", false, []int{0, 2, 3, 1}, map[uint8]string{ring.StreamRing: "0 2 3 1"}},
		{"abcabc", false, []int{0, 3, 2, 5, 1, 4}, map[uint8]string{ring.StreamRing: "0 3 2 5 1 4", ring.StreamAcross: "0 2 1"}},
	} {
		to := map[uint8]map[int]int{}
		for rank := range len(tt.hosts) {
			m := hostsOf(tt.hosts, rank)
			m.Order.Workers = tt.order
			for _, r := range layoutOf(m, tt.flat).routes() {
				if to[r.Stream] == nil {
					to[r.Stream] = map[int]int{}
				}
				to[r.Stream][rank] = r.To
			}
		}
		for stream, want := range tt.want {
			way, at := "0", to[stream][0]
			for ; at > 0 && len(way) < len(want); at = to[stream][at] {
				way += fmt.Sprintf(" %d", at)
			}
			if way != want || at != 0 {
				t.Errorf("hosts=%s flat=%v stream %d: ring %s, then %d, want %s, then 0", tt.hosts, tt.flat, stream, way, at, want)
			}
		}
	}
}

// named is a link that is nothing but its name.
type named struct {
	ring.Link
	name string
}

// TestTransportPlaces verifies the place of each link in the transport: the ring of all ranks,
// and the ring and the rounds of the drivers.
func TestTransportPlaces(t *testing.T) {
	l := layoutOf(hostsOf("aabbcc", 1), false)
	var links []ring.Link
	for _, r := range l.routes() {
		links = append(links, named{name: fmt.Sprint(r.Stream)})
	}
	tr := l.transport(links)
	if tr.Ring != (named{name: "0"}) || len(tr.Rounds) != 0 || tr.Across.Ring != (named{name: "32"}) ||
		len(tr.Across.Rounds) != 2 || tr.Across.Rounds[0] != (named{name: "33"}) || tr.Across.Rounds[1] != (named{name: "34"}) {
		t.Errorf("transport %+v across %+v: links out of place", tr, tr.Across)
	}
}

// TestLinkName verifies that the reported link is the one that gradients take.
func TestLinkName(t *testing.T) {
	for want, got := range map[string]string{
		"none":    linkName(false, false),
		"tcp":     linkName(false, true),
		"shm":     linkName(true, false),
		"shm+tcp": linkName(true, true),
	} {
		if got != want {
			t.Errorf("link %s, want %s", got, want)
		}
	}
}

// TestOrderMisfit verifies that a list of other ranks than the job's is refused on all ranks.
func TestOrderMisfit(t *testing.T) {
	noLeak(t)
	c := listedCrew(t, 3)
	var err error
	if c.config.Order, err = order.Parse("0,1"); err != nil {
		t.Fatal(err)
	}
	for _, m := range told(c.meet(t.Context(), t, c.ranks()...)()) {
		if exitcode.Of(m.err) != exitcode.Usage || !strings.Contains(m.err.Error(), "allreduce.order is 0,1: rank 2 is not in it, want each of 0 to 2 once") {
			t.Errorf("rank %d: error %v, want one about rank 2, with code %d", m.rank, m.err, exitcode.Usage)
		}
	}
}
