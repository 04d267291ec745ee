package doctor

import "ringtrain/ring"

// Report is the result of all measurements.
type Report struct {
	Hosts []Host // by rank
	pairs []Pair // of all ranks, by From, then To; From may be To
}

// Host describes a worker's host, as the worker sees it. A limit of -1 is no limit; 0 is
// unknown.
type Host struct {
	Rank       int    `json:"rank"`
	Host       string `json:"host"`    // name of the host
	HostID     string `json:"host_id"` // equal for ranks that share memory
	Address    string `json:"address"` // of the worker's port; "" for a world of one
	Version    string `json:"version"`
	Kernels    string `json:"kernels"` // highest kernel set
	Cores      int    `json:"cores"`   // that this process may use
	OpenFiles  int64  `json:"open_files_limit"`
	Tasks      int64  `json:"tasks_limit"` // threads and processes, the least of all limits
	Memory     int64  `json:"memory_bytes"`
	MemoryFree int64  `json:"memory_available_bytes"` // to this process: of the host, or of its limit
	TokenID    string `json:"token_id"`               // of the token by which a rank proves itself under other launchers than run; "none"; "": it cannot be used
	TokenFault string `json:"token_fault"`            // why it cannot be used; else ""
	Disks      []Disk `json:"disks"`                  // that the job writes to; of rank 0 only
	Fault      string `json:"fault"`                  // why only rank and address are known; else ""
}

// Disk is the folder of a path that a job writes to.
type Disk struct {
	Key   string `json:"key"`  // of the job file
	Path  string `json:"path"` // the key's value
	Free  int64  `json:"free_bytes"`
	Fault string `json:"fault"` // why the folder cannot be written to; else ""
}

// Pair is the measurement from one worker to another one.
type Pair struct {
	From      int     `json:"from"`
	To        int     `json:"to"`
	Address   string  `json:"address"`       // dialled address
	Fault     string  `json:"fault"`         // why the connection or the measurement failed; else ""
	Code      int     `json:"exit_code"`     // of the fault
	Latency   float64 `json:"latency_s"`     // median of the round trips; 0: not measured
	Bandwidth float64 `json:"bytes_per_s"`   // 0: not measured
	Ahead     float64 `json:"clock_ahead_s"` // offset of To's clock, corrected by half of the shortest round trip
}

// rankReport is the report of one worker.
type rankReport struct {
	Host  Host   `json:"host"`
	Pairs []Pair `json:"pairs"` // from it, by To, with itself
}

// newReport returns the report of m before any rank has reported.
func newReport(m ring.Membership) *Report {
	r := &Report{}
	for _, w := range m.Workers {
		r.Hosts = append(r.Hosts, Host{Rank: w.Rank, Host: w.Host, HostID: w.HostID, Address: w.Addr, Fault: "rank 0 has not received its report", Disks: []Disk{}})
		for _, to := range m.Workers {
			r.pairs = append(r.pairs, Pair{From: w.Rank, To: to.Rank, Address: to.Addr, Fault: "unknown: the dialling rank has not reported"})
		}
	}
	return r
}

// add adds the report of a rank, if it has a pair for each rank. Names and addresses are those of the
// membership.
func (r *Report) add(rank int, s rankReport) {
	if len(s.Pairs) != len(r.Hosts) {
		return
	}
	known := r.Hosts[rank]
	s.Host.Rank, s.Host.Host, s.Host.HostID, s.Host.Address, s.Host.Fault = rank, known.Host, known.HostID, known.Address, ""
	r.Hosts[rank] = s.Host
	for to, p := range s.Pairs {
		p.From, p.To, p.Address = rank, to, r.Hosts[to].Address
		*r.pair(rank, to) = p
	}
}

// pair returns the entry of a pair.
func (r *Report) pair(from, to int) *Pair { return &r.pairs[from*len(r.Hosts)+to] }

// Pairs returns every ordered pair of two ranks, by From, then To.
func (r *Report) Pairs() []Pair {
	var list []Pair
	for _, p := range r.pairs {
		if p.From != p.To {
			list = append(list, p)
		}
	}
	return list
}

// hosts returns the ranks of each host.
func (r *Report) hosts() [][]int {
	var list [][]int
	at := map[string]int{}
	for rank, h := range r.Hosts {
		i, ok := at[h.HostID]
		if !ok {
			i = len(list)
			at[h.HostID], list = i, append(list, nil)
		}
		list[i] = append(list[i], rank)
	}
	return list
}
