package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// network returns the membership of ranks on the given hosts.
func network(hosts ...string) ring.Membership {
	m := ring.Membership{JobID: "job-1", Generation: 1}
	for rank, h := range hosts {
		m.Workers = append(m.Workers, ring.Worker{Rank: rank, Host: h, HostID: h, Addr: fmt.Sprintf("10.0.0.%d:7000", rank), Incarnation: uint64(rank + 1)})
	}
	return m
}

// healthy returns a report without faults: round trips of 0.1 ms, 940 Mbit/s.
func healthy(hosts ...string) *Report {
	m := network(hosts...)
	r := newReport(m)
	rates := bandwidthRanks(m)
	for rank := range hosts {
		s := rankReport{Host{Version: "1", Kernels: "avx2", Cores: 4, OpenFiles: 1 << 16, Tasks: -1, Memory: 16 << 30, MemoryFree: 8 << 30, TokenID: "3f2a91c0"}, make([]Pair, len(hosts))}
		for to := range hosts {
			s.Pairs[to].Latency = 1e-4
			if to != rank && rates[rank] && rates[to] {
				s.Pairs[to].Bandwidth = 940e6 / 8
			}
		}
		r.add(rank, s)
	}
	return r
}

func (r *Report) breakPair(from, to int, why string) {
	p := r.pair(from, to)
	*p = Pair{From: from, To: to, Address: p.Address, Fault: why, Code: exitcode.Retry}
}

// TestVerdict verifies that each fault is found, is attributed to the right rank or pair, and
// that faults come before warnings.
func TestVerdict(t *testing.T) {
	tests := []struct {
		name  string
		hosts string
		ill   func(r *Report)
		code  int
		want  []string
	}{
		{"all well", "a b c", func(*Report) {}, 0, nil},
		{"one host, uneven", "a a a", func(r *Report) { r.pair(0, 1).Bandwidth /= 50 }, 0, nil},
		{"alone", "a", func(*Report) {}, 0, nil},
		{"pair", "a b c", func(r *Report) { r.breakPair(1, 2, "connect timeout"); r.breakPair(2, 1, "connection refused") }, 138, []string{
			"link rank 1 on b -> rank 2 on c at 10.0.0.2:7000: connect timeout", "link rank 2 on c -> rank 1 on b at 10.0.0.1:7000: connection refused"}},
		{"nobody reaches", "a b c", func(r *Report) { r.breakPair(0, 2, "no route to host"); r.breakPair(1, 2, "no route to host") }, 138, []string{
			"link rank 0 on a, rank 1 on b -> rank 2 on c at 10.0.0.2:7000: no route to host"}},
		{"silent", "a b c", func(r *Report) {
			r.Hosts[2].Fault = "no word"
			r.breakPair(2, 0, "not known")
		}, 138, []string{"rank 2 on c: no word"}},
		{"clocks", "a b c d", func(r *Report) { r.pair(0, 1).Ahead, r.pair(0, 2).Ahead, r.pair(0, 3).Ahead = 40.2, -1.5, 0.3 }, 0, []string{
			"rank 1 on b: clock is 40 s ahead of rank 0's", "rank 2 on c: clock is 1.5 s behind rank 0's"}},
		{"kernels", "a b", func(r *Report) { r.Hosts[1].Kernels = "avx512" }, 0, []string{
			"rank 1 on b: its kernels are avx512 at most, those of rank 0 avx2: all ranks would compute with the lower set"}},
		{"tokens", "a b c d", func(r *Report) {
			r.Hosts[1].TokenID, r.Hosts[2].TokenID, r.Hosts[3].TokenID, r.Hosts[3].TokenFault = "77e1d0aa", "none", "", "token has mode 0644, want 0600"
		}, 0, []string{
			"rank 1 on b: its token is 77e1d0aa, that of rank 0 3f2a91c0: without ringtrain run they would refuse each other",
			"rank 2 on c: its token is none, that of rank 0 3f2a91c0: without ringtrain run they would refuse each other",
			"rank 3 on d: its token is of no use without ringtrain run: token has mode 0644, want 0600"}},
		{"slow host", "a b c d", func(r *Report) {
			for other := range 4 {
				r.pair(1, other).Bandwidth, r.pair(other, 1).Bandwidth = 100e6/8, 100e6/8
			}
		}, 0, []string{"rank 1 on b: sends at 100 Mbit/s where others have 940 Mbit/s", "rank 1 on b: receives at 100 Mbit/s where others have 940 Mbit/s"}},
		{"slow pair", "a b c", func(r *Report) { r.pair(1, 2).Bandwidth = 100e6 / 8 }, 0, []string{
			"link rank 1 on b -> rank 2 on c: 100 Mbit/s where others have 940 Mbit/s"}},
		{"slow, not much", "a b c", func(r *Report) { r.pair(1, 2).Bandwidth /= 2.5 }, 0, nil},
		{"files", "a b", func(r *Report) { r.Hosts[1].OpenFiles = 64 }, 1, []string{
			"rank 1 on b: limit of open files is 64, want 70 or more (ulimit -n)"}},
		{"tasks", "a b", func(r *Report) { r.Hosts[0].Tasks = 20 }, 1, []string{
			"rank 0 on a: limit of threads and processes is 20, want 28 or more (ulimit -u, pids.max)"}},
		{"memory", "a b", func(r *Report) { r.Hosts[0].MemoryFree = 100 << 20 }, 0, []string{"rank 0 on a: only 100 MiB of memory left"}},
		{"disks", "a b", func(r *Report) {
			r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 1 << 40, ""}, {"export.savedmodel", "out", 0, "/: permission denied"}}
		}, 73, []string{"rank 0 on a: export.savedmodel out: /: permission denied"}},
		{"disk full", "a b", func(r *Report) { r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 0, ""}} }, 74, []string{
			"rank 0 on a: checkpoint.dir ckpt: no space left"}},
		{"disk nearly full", "a b", func(r *Report) { r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 9 << 20, ""}} }, 0, []string{
			"rank 0 on a: checkpoint.dir ckpt: only 9.0 MiB of space left"}},
		{"faults first", "a b c", func(r *Report) {
			r.pair(0, 2).Ahead, r.Hosts[1].OpenFiles = 2, 10
			r.breakPair(0, 1, "connect timeout")
		}, 138, []string{"link rank 0 on a -> rank 1 on b at 10.0.0.1:7000: connect timeout",
			"rank 1 on b: limit of open files is 10, want 73 or more (ulimit -n)", "rank 2 on c: clock is 2.0 s ahead of rank 0's"}},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			r := healthy(strings.Fields(tt.hosts)...)
			tt.ill(r)
			v := r.Verdict()
			var got []string
			for _, f := range v.Findings {
				got = append(got, f.Text)
			}
			if v.Code != tt.code || !slices.Equal(got, tt.want) {
				t.Errorf("code %d and\n%s\nwant %d and\n%s", v.Code, strings.Join(got, "\n"), tt.code, strings.Join(tt.want, "\n"))
			}
			table := r.Table(v)
			for _, text := range tt.want {
				if !strings.Contains(table, ": "+text+"\n") {
					t.Errorf("the table does not have %q:\n%s", text, table)
				}
			}
		})
	}
}

// TestAddRefuses verifies that a report without a pair for each rank is not added, and that one cannot
// speak for another rank.
func TestAddRefuses(t *testing.T) {
	r := newReport(network("a", "b", "c"))
	r.add(1, rankReport{Host{Version: "1"}, make([]Pair, 2)})
	if r.Hosts[1].Version != "" {
		t.Error("a short report is added")
	}
	r.add(1, rankReport{Host{Rank: 2, Address: "elsewhere"}, []Pair{{From: 0, To: 2, Address: "elsewhere"}, {}, {}}})
	if p := r.pair(1, 0); r.Hosts[1].Rank != 1 || r.Hosts[1].Address != "10.0.0.1:7000" || p.From != 1 || p.To != 0 || p.Address != "10.0.0.0:7000" {
		t.Errorf("host %+v and pair %+v, want those of rank 1", r.Hosts[1], p)
	}
}

// TestBurstTime verifies that the bandwidth measurements of a large world keep the limit.
func TestBurstTime(t *testing.T) {
	for _, size := range []int{2, 20, 100, 300, 1000} {
		if all := 2 * burstTime(size, DefaultLimit).Seconds() * float64(size); all > 0.5*DefaultLimit.Seconds() {
			t.Errorf("size=%d: the bursts take %.1f s", size, all)
		}
	}
}

// TestBestOrder verifies that the order of the ring is one that the job file takes, avoids a slow pair of
// hosts, and is absent where hosts have one ring only or were not measured.
func TestBestOrder(t *testing.T) {
	four := healthy("a", "b", "c", "a", "d")
	if got := four.BestOrder(); !strings.Contains(got, "allreduce.order=0,3,1,2,4 (no order of the hosts is faster") {
		t.Errorf("hosts alike: %q, want by host", got)
	}
	four.pair(1, 2).Bandwidth, four.pair(2, 1).Bandwidth = 1e6, 1e6
	if got := four.BestOrder(); !strings.Contains(got, "allreduce.order=0,3,1,4,2 (the slowest hop") {
		t.Errorf("a slow pair: %q, want an order in which 1 and 2 are no neighbours", got)
	}
	four.breakPair(0, 4, "connection refused")
	for what, r := range map[string]*Report{"two hosts": healthy("a", "b", "a"), "a pair that was not measured": four} {
		if got := r.BestOrder(); got != "" {
			t.Errorf("%s: %q, want nothing", what, got)
		}
	}
}
