package doctor

import "ringtrain/ring"

// Report is what all workers have found.
type Report struct {
	Hosts []Host // by rank
	Pairs []Pair // every ordered pair of ranks, by From, then To
}

// Host is a worker's host, as the worker finds it. Limits are -1 where there is
// none, and 0 where they are not known.
type Host struct {
	Rank         int      `json:"rank"`
	Host         string   `json:"host"`    // its name
	HostID       string   `json:"host_id"` // equal for ranks that share memory
	Address      string   `json:"address"` // where the worker listens; "" for a world of one
	Version      string   `json:"version"`
	Kernels      string   `json:"kernels"`     // highest kernel set of the arithmetic
	Sets         []string `json:"kernel_sets"` // all of them, in ascending order
	Cores        int      `json:"cores"`       // that this process may use
	CoreLimit    float64  `json:"core_limit"`
	ClockAhead   *float64 `json:"clock_ahead_s"` // of rank 0's; nil: not known
	OpenFiles    int64    `json:"open_files_limit"`
	Tasks        int64    `json:"tasks_limit"` // threads and processes, the least of all limits
	Locked       int64    `json:"locked_memory_limit_bytes"`
	Memory       int64    `json:"memory_bytes"`
	MemoryFree   int64    `json:"memory_available_bytes"` // to this process: of the host, or of its limit
	MemoryLimit  int64    `json:"memory_limit_bytes"`     // of its control group
	SharedMemory string   `json:"shared_memory_fault"`    // why ranks here cannot share memory; "": they can
	Disks        []Disk   `json:"disks"`                  // that the job writes to; of rank 0 only
	Fault        string   `json:"fault"`                  // why no more than rank and address is known; else ""
}

// Disk is where a job writes.
type Disk struct {
	Key   string `json:"key"`  // of the job file
	Path  string `json:"path"` // what it says
	Free  int64  `json:"free_bytes"`
	Fault string `json:"fault"` // why nothing can be written there; else ""
}

// Pair is what a worker finds of its way to another one.
type Pair struct {
	From      int     `json:"from"`
	To        int     `json:"to"`
	Address   string  `json:"address"`       // that was dialled
	Fault     string  `json:"fault"`         // why it was not reached, or not measured; else ""
	Code      int     `json:"exit_code"`     // of the fault
	Latency   float64 `json:"latency_s"`     // median of the round trips; 0: not measured
	Bandwidth float64 `json:"bytes_per_s"`   // 0: not measured
	Ahead     float64 `json:"clock_ahead_s"` // To's clock before From's, by half of the shortest round trip
}

// reached tells whether p was measured.
func (p *Pair) reached() bool { return p.Fault == "" }

// at returns the place of a pair in Pairs.
func (r *Report) at(from, to int) *Pair {
	p := len(r.Hosts)
	i := from*(p-1) + to
	if to > from {
		i--
	}
	return &r.Pairs[i]
}

// newReport is the report on m before anybody has said anything.
func newReport(m ring.Membership) *Report {
	r := &Report{}
	for _, w := range m.Workers {
		r.Hosts = append(r.Hosts, Host{Rank: w.Rank, Host: w.Host, HostID: w.HostID, Address: w.Addr, Fault: "what it has found did not come to rank 0, by no way", Disks: []Disk{}})
		for _, to := range m.Workers {
			if to.Rank != w.Rank {
				r.Pairs = append(r.Pairs, Pair{From: w.Rank, To: to.Rank, Address: to.Addr, Fault: "not known: no word from the one that dials"})
			}
		}
	}
	return r
}

// A sheet is what one worker has found.
type sheet struct {
	Host  Host   `json:"host"`
	Pairs []Pair `json:"pairs"` // from it, by To
}

// add takes a worker's sheet; it tells whether the sheet is of a worker of the
// report that has sent none.
func (r *Report) add(s sheet) bool {
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
		*r.at(from, p.To) = p
	}
	return true
}

// setClocks fills in how far the clocks are ahead of rank 0's, as far as rank 0
// and the host have met.
func (r *Report) setClocks() {
	for rank := range r.Hosts {
		var ahead float64
		switch {
		case rank == 0:
		case r.at(0, rank).reached():
			ahead = r.at(0, rank).Ahead
		case r.at(rank, 0).reached():
			ahead = -r.at(rank, 0).Ahead
		default:
			continue
		}
		r.Hosts[rank].ClockAhead = &ahead
	}
}
