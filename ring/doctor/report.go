package doctor

import "ringtrain/ring"

// Report is the result of all measurements.
type Report struct {
	Hosts []Host // by rank
	Pairs []Pair // every ordered pair of ranks, by From, then To
}

// Host describes a worker's host, as the worker sees it. A limit of -1 is no limit; 0 is
// unknown.
type Host struct {
	Rank         int      `json:"rank"`
	Host         string   `json:"host"`    // name of the host
	HostID       string   `json:"host_id"` // equal for ranks that share memory
	Address      string   `json:"address"` // of the worker's port; "" for a world of one
	Version      string   `json:"version"`
	Kernels      string   `json:"kernels"`     // highest kernel set
	Sets         []string `json:"kernel_sets"` // all kernel sets in ascending order
	Cores        int      `json:"cores"`       // that this process may use
	CoreLimit    float64  `json:"core_limit"`
	ClockAhead   *float64 `json:"clock_ahead_s"` // of rank 0's; nil: unknown
	OpenFiles    int64    `json:"open_files_limit"`
	Tasks        int64    `json:"tasks_limit"` // threads and processes, the least of all limits
	Locked       int64    `json:"locked_memory_limit_bytes"`
	Memory       int64    `json:"memory_bytes"`
	MemoryFree   int64    `json:"memory_available_bytes"` // to this process: of the host, or of its limit
	MemoryLimit  int64    `json:"memory_limit_bytes"`     // of its control group
	SharedMemory string   `json:"shared_memory_fault"`    // why ranks here cannot share memory; "": they can
	Disks        []Disk   `json:"disks"`                  // that the job writes to; of rank 0 only
	Fault        string   `json:"fault"`                  // why only rank and address are known; else ""
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

// reached reports whether p was measured.
func (p *Pair) reached() bool { return p.Fault == "" }

// pair returns the entry of a pair in Pairs.
func (r *Report) pair(from, to int) *Pair {
	p := len(r.Hosts)
	i := from*(p-1) + to
	if to > from {
		i--
	}
	return &r.Pairs[i]
}

// newReport returns the report of m before any rank has reported.
func newReport(m ring.Membership) *Report {
	r := &Report{}
	for _, w := range m.Workers {
		r.Hosts = append(r.Hosts, Host{Rank: w.Rank, Host: w.Host, HostID: w.HostID, Address: w.Addr, Fault: "rank 0 has not received its report", Disks: []Disk{}})
		for _, to := range m.Workers {
			if to.Rank != w.Rank {
				r.Pairs = append(r.Pairs, Pair{From: w.Rank, To: to.Rank, Address: to.Addr, Fault: "unknown: the dialling rank has not reported"})
			}
		}
	}
	return r
}

// rankReport is the report of one worker.
type rankReport struct {
	Host  Host   `json:"host"`
	Pairs []Pair `json:"pairs"` // from it, by To
}

// add adds a worker's report. It reports whether the worker is in r and has not reported
// before.
func (r *Report) add(s rankReport) bool {
	from := s.Host.Rank
	if from < 0 || from >= len(r.Hosts) || r.Hosts[from].Fault == "" {
		return false
	}
	for _, p := range s.Pairs {
		if p.From != from || p.To < 0 || p.To >= len(r.Hosts) || p.To == from {
			return false
		}
	}
	known := r.Hosts[from]
	s.Host.Host, s.Host.HostID, s.Host.Address, s.Host.Fault, s.Host.ClockAhead = known.Host, known.HostID, known.Address, "", nil
	r.Hosts[from] = s.Host
	for _, p := range s.Pairs {
		*r.pair(from, p.To) = p
	}
	return true
}

// setClocks sets the offsets of the clocks from rank 0's, where rank 0 and the host have
// connected.
func (r *Report) setClocks() {
	for rank := range r.Hosts {
		var ahead float64
		switch {
		case rank == 0:
		case r.pair(0, rank).reached():
			ahead = r.pair(0, rank).Ahead
		case r.pair(rank, 0).reached():
			ahead = -r.pair(rank, 0).Ahead
		default:
			continue
		}
		r.Hosts[rank].ClockAhead = &ahead
	}
}
