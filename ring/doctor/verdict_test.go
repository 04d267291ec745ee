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
		s := rankReport{Host: Host{
			Rank: rank, Version: "1", Kernels: "avx2", Sets: []string{"portable", "avx2"}, Cores: 4, OpenFiles: 1 << 16, Tasks: -1, Locked: -1,
			Memory: 16 << 30, MemoryFree: 8 << 30, MemoryLimit: -1, CoreLimit: -1,
		}}
		for to, w := range m.Workers {
			if to == rank {
				continue
			}
			p := Pair{From: rank, To: to, Address: w.Addr, Latency: 1e-4}
			if rates[rank] && rates[to] {
				p.Bandwidth = 940e6 / 8
			}
			s.Pairs = append(s.Pairs, p)
		}
		if !r.add(s) {
			panic("doctor: a report is refused")
		}
	}
	r.setClocks()
	return r
}

func (r *Report) breakPair(from, to int, why string) {
	p := r.pair(from, to)
	*p = Pair{From: from, To: to, Address: p.Address, Fault: why, Code: exitcode.Retry}
}

// TestVerdict verifies that each fault is found, is attributed to the right host or pair, and
// comes in the order of its weight.
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
		{"one way", "a b c", func(r *Report) { r.breakPair(1, 2, "connect timeout") }, 138, []string{
			"link b -> c at 10.0.0.2:7000: connect timeout"}},
		{"pair", "a b c", func(r *Report) { r.breakPair(1, 2, "connect timeout"); r.breakPair(2, 1, "connection refused") }, 138, []string{
			"link b -> c at 10.0.0.2:7000: connect timeout", "link c -> b at 10.0.0.1:7000: connection refused"}},
		{"two hosts", "a b", func(r *Report) { r.breakPair(0, 1, "connect timeout") }, 138, []string{
			"link a -> b at 10.0.0.1:7000: connect timeout"}},
		{"names alike", "a a", func(r *Report) {
			r.Hosts[1].HostID = "other"
			r.breakPair(0, 1, "connect timeout")
		}, 138, []string{"link rank 0 (10.0.0.0) -> rank 1 (10.0.0.1) at 10.0.0.1:7000: connect timeout"}},
		{"nobody reaches", "a b c", func(r *Report) { r.breakPair(0, 2, "no route to host"); r.breakPair(1, 2, "no route to host") }, 138, []string{
			"host c: no other host can reach it at 10.0.0.2:7000: no route to host"}},
		{"reaches nobody", "a b c", func(r *Report) { r.breakPair(1, 0, "connect timeout"); r.breakPair(1, 2, "connect timeout") }, 138, []string{
			"host b: it can reach no other host; c at 10.0.0.2:7000: connect timeout"}},
		{"two hosts of two", "a a b b c", func(r *Report) {
			for _, from := range []int{0, 1} {
				for _, to := range []int{2, 3} {
					r.breakPair(from, to, "connect timeout")
				}
			}
		}, 138, []string{"link rank 0 (10.0.0.0) -> rank 2 (10.0.0.2) at 10.0.0.2:7000: connect timeout"}},
		{"host with ranks that reach each other", "a a b b c", func(r *Report) {
			for _, to := range []int{2, 3} {
				for _, from := range []int{0, 1, 4} {
					r.breakPair(from, to, "connect timeout")
				}
			}
		}, 138, []string{"rank 2 (10.0.0.2): no other host can reach it at 10.0.0.3:7000: connect timeout"}},
		{"silent", "a b c", func(r *Report) {
			r.Hosts[2].Fault = "no word"
			for to := range 2 {
				r.breakPair(2, to, "not known")
			}
		}, 138, []string{"host c: no word"}},
		{"clocks", "a b c", func(r *Report) {
			ahead, behind := 40.2, -1.5
			r.Hosts[1].ClockAhead, r.Hosts[2].ClockAhead = &ahead, &behind
		}, 0, []string{
			"host b: clock is 40 s ahead of rank 0's", "host c: clock is 1.5 s behind rank 0's"}},
		{"kernels", "a b b c", func(r *Report) {
			for _, rank := range []int{1, 2} {
				r.Hosts[rank].Kernels, r.Hosts[rank].Sets = "portable", []string{"portable"}
			}
			r.Hosts[3].Kernels, r.Hosts[3].Sets = "avx512", []string{"portable", "avx2", "avx512"}
		}, 0, []string{
			"host a: its kernels are avx2 at most, those of host c avx512: all ranks would compute with portable",
			"rank 1 (10.0.0.1): its kernels are portable at most, those of host c avx512: all ranks would compute with portable"}},
		{"clock of no matter", "a b", func(r *Report) { ahead := 0.3; r.Hosts[1].ClockAhead = &ahead }, 0, nil},
		{"slow host", "a b c d", func(r *Report) {
			for i := range r.Pairs {
				if p := &r.Pairs[i]; p.From == 1 || p.To == 1 {
					p.Bandwidth = 100e6 / 8
				}
			}
		}, 0, []string{"host b: sends at 100 Mbit/s where others have 940 Mbit/s", "host b: receives at 100 Mbit/s where others have 940 Mbit/s"}},
		{"slow pair", "a b c", func(r *Report) { r.pair(1, 2).Bandwidth = 100e6 / 8 }, 0, []string{
			"link b -> c: 100 Mbit/s where others have 940 Mbit/s"}},
		{"slow, not much", "a b c", func(r *Report) { r.pair(1, 2).Bandwidth /= 2.5 }, 0, nil},
		{"late host", "a b c", func(r *Report) {
			for i := range r.Pairs {
				if p := &r.Pairs[i]; p.From == 2 || p.To == 2 {
					p.Latency = 20e-3
				}
			}
		}, 0, []string{"host c: round trips take 20 ms where others have 100 us"}},
		{"late, but short", "a b c", func(r *Report) { r.pair(1, 2).Latency = 0.9e-3; r.pair(0, 2).Latency = 1e-5 }, 0, nil},
		{"files", "a b", func(r *Report) { r.Hosts[1].OpenFiles = 64 }, 1, []string{
			"host b: limit of open files is 64, want 70 or more (ulimit -n)"}},
		{"tasks", "a b", func(r *Report) { r.Hosts[0].Tasks = 20 }, 1, []string{
			"host a: limit of threads and processes is 20, want 28 or more (ulimit -u, pids.max)"}},
		{"memory", "a b", func(r *Report) { r.Hosts[0].MemoryFree = 100 << 20 }, 0, []string{"host a: only 100 MiB of memory left"}},
		{"no memory to share", "a b b", func(r *Report) {
			for rank := range r.Hosts {
				r.Hosts[rank].SharedMemory = "memfd_create: no"
			}
		}, 0, []string{
			"rank 1 (10.0.0.1): its ranks cannot share memory: memfd_create: no; add --set allreduce.levels=flat",
			"rank 2 (10.0.0.2): its ranks cannot share memory: memfd_create: no; add --set allreduce.levels=flat"}},
		{"disks", "a b", func(r *Report) {
			r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 1 << 40, ""}, {"export.savedmodel", "out", 0, "/: permission denied"}}
		}, 73, []string{"host a: export.savedmodel out: /: permission denied"}},
		{"disk full", "a b", func(r *Report) { r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 0, ""}} }, 74, []string{
			"host a: checkpoint.dir ckpt: no space left"}},
		{"disk nearly full", "a b", func(r *Report) { r.Hosts[0].Disks = []Disk{{"checkpoint.dir", "ckpt", 9 << 20, ""}} }, 0, []string{
			"host a: checkpoint.dir ckpt: only 9 MiB of space left"}},
		{"worst first", "a b c", func(r *Report) {
			ahead := 2.0
			r.Hosts[1].ClockAhead, r.Hosts[1].OpenFiles = &ahead, 10
			r.breakPair(0, 1, "connect timeout")
			r.Hosts[2].Fault = "no word"
		}, 138, []string{"host c: no word", "link a -> b at 10.0.0.1:7000: connect timeout",
			"host b: limit of open files is 10, want 73 or more (ulimit -n)", "host b: clock is 2.0 s ahead of rank 0's"}},
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

// TestAddRefuses verifies that an invalid report, or one about another worker's pairs, is not
// added.
func TestAddRefuses(t *testing.T) {
	for name, s := range map[string]rankReport{
		"rank out of range": {Host: Host{Rank: 3}},
		"rank negative":     {Host: Host{Rank: -1}},
		"pair of another":   {Host: Host{Rank: 1}, Pairs: []Pair{{From: 0, To: 2}}},
		"pair to itself":    {Host: Host{Rank: 1}, Pairs: []Pair{{From: 1, To: 1}}},
		"pair out of range": {Host: Host{Rank: 1}, Pairs: []Pair{{From: 1, To: 3}}},
	} {
		if newReport(network("a", "b", "c")).add(s) {
			t.Errorf("report=%s: added", name)
		}
	}
	r := newReport(network("a", "b"))
	if !r.add(rankReport{Host: Host{Rank: 1, Version: "1"}}) || r.add(rankReport{Host: Host{Rank: 1, Version: "2"}}) || r.Hosts[1].Version != "1" {
		t.Error("the second report of a rank replaces the first")
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
