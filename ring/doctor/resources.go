package doctor

import (
	"fmt"

	"ringtrain/ring/exitcode"
)

// The needs of a worker, with a margin.
const (
	spareFiles  = 64 // open files besides connections
	spareTasks  = 24 // threads besides cores: Go's own, and those in system calls
	littleSpace = 1 << 30
	littleRAM   = 256 << 20
)

// filesNeeded returns the maximal number of open files of a worker: two for the links to each
// other worker, and one more for each on rank 0, for the rendezvous.
func filesNeeded(size int) int64 { return int64(3*size + spareFiles) }

// shortages finds resources that hosts lack.
func (r *Report) shortages() []Finding {
	var found []Finding
	for rank, h := range r.Hosts {
		if h.Fault != "" {
			continue
		}
		add := func(code int, format string, args ...any) {
			found = append(found, Finding{code, r.host(rank) + ": " + fmt.Sprintf(format, args...), rank, -1})
		}
		if need := filesNeeded(len(r.Hosts)); h.OpenFiles > 0 && h.OpenFiles < need {
			add(exitcode.Failed, "limit of open files is %d, want %d or more (ulimit -n)", h.OpenFiles, need)
		}
		if need := int64(h.Cores + spareTasks); h.Tasks > 0 && h.Tasks < need {
			add(exitcode.Failed, "limit of threads and processes is %d, want %d or more (ulimit -u, pids.max)", h.Tasks, need)
		}
		if h.MemoryFree > 0 && h.MemoryFree < littleRAM {
			add(exitcode.OK, "only %s of memory left", bytesText(h.MemoryFree))
		}
		if h.SharedMemory != "" && r.ranksOf(h.HostID) > 1 {
			add(exitcode.OK, "its ranks cannot share memory: %s; add --set allreduce.levels=flat", h.SharedMemory)
		}
		for _, d := range h.Disks {
			switch {
			case d.Fault != "":
				add(exitcode.CannotCreate, "%s %s: %s", d.Key, d.Path, d.Fault)
			case d.Free == 0:
				add(exitcode.IO, "%s %s: no space left", d.Key, d.Path)
			case d.Free < littleSpace:
				add(exitcode.OK, "%s %s: only %s of space left", d.Key, d.Path, bytesText(d.Free))
			}
		}
	}
	return found
}

// ranksOf returns the number of ranks on a host.
func (r *Report) ranksOf(hostID string) int {
	n := 0
	for _, h := range r.Hosts {
		if h.HostID == hostID {
			n++
		}
	}
	return n
}

// wrongClock is the clock offset that is reported: times in logs and events can no longer be
// compared.
const wrongClock = 1.0 // seconds

// clocks finds clocks that differ from rank 0's. Training does not depend on them.
func (r *Report) clocks() []Finding {
	var found []Finding
	for rank, h := range r.Hosts {
		if h.ClockAhead == nil {
			continue
		}
		ahead, way := *h.ClockAhead, "ahead of"
		if ahead < 0 {
			ahead, way = -ahead, "behind"
		}
		if ahead >= wrongClock {
			found = append(found, Finding{exitcode.OK, fmt.Sprintf("%s: clock is %s %s rank 0's", r.host(rank), secondsText(ahead), way), rank, -1})
		}
	}
	return found
}
