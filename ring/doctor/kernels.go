package doctor

import (
	"fmt"
	"slices"
)

// kernelMismatches finds the hosts that lack a kernel set which another host has: all ranks
// compute with the highest common one.
func (r *Report) kernelMismatches() []Finding {
	best := -1
	for rank, h := range r.Hosts {
		if h.Fault == "" && (best < 0 || len(h.Sets) > len(r.Hosts[best].Sets)) {
			best = rank
		}
	}
	if best < 0 || len(r.Hosts[best].Sets) == 0 {
		return nil
	}
	top, all := r.Hosts[best].Kernels, r.commonSet(best)
	var found []Finding
	for rank, h := range r.Hosts {
		first := slices.IndexFunc(r.Hosts, func(o Host) bool { return o.HostID == h.HostID }) == rank
		if h.Fault == "" && first && !slices.Contains(h.Sets, top) {
			found = append(found, Finding{0, fmt.Sprintf("%s: its kernels are %s at most, those of %s %s: all ranks would compute with %s",
				r.host(rank), h.Kernels, r.host(best), top, all), rank, -1})
		}
	}
	return found
}

// commonSet returns the highest kernel set of a rank that all reporting ranks have.
func (r *Report) commonSet(of int) string {
	for _, set := range slices.Backward(r.Hosts[of].Sets) {
		if !slices.ContainsFunc(r.Hosts, func(h Host) bool { return h.Fault == "" && !slices.Contains(h.Sets, set) }) {
			return set
		}
	}
	return "none"
}
