package speed

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"ringtrain/ring/limits"
)

// memoryEvery is the time between two samples of the memory of a run's processes. Every
// looksOfProcess samples the watch lists the processes again, which reads all processes
// of the system.
const (
	memoryEvery    = 50 * time.Millisecond
	looksOfProcess = 10
)

// A memoryWatch samples the memory of the processes of a run until it is stopped.
type memoryWatch struct {
	end  chan struct{}
	peak chan int64
}

// watchMemory watches a process and its descendants, if the system reports them.
func watchMemory(pid int) memoryWatch {
	w := memoryWatch{make(chan struct{}), make(chan int64, 1)}
	go func() {
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		peak, watched := int64(0), []int{pid}
		for look := 1; ; look++ {
			select {
			case <-w.end:
				w.peak <- peak
				return
			case <-tick.C:
			}
			if look%looksOfProcess == 2 {
				watched = family(statuses(), pid)
			}
			for _, of := range watched {
				peak = max(peak, statusOf(of).resident)
			}
		}
	}()
	return w
}

// stop ends the watch and returns the maximum of RssAnon and RssShmem of one process, in
// bytes. It returns 0 if the system does not report memory, and for a zero watch.
func (w memoryWatch) stop() int64 {
	if w.end == nil {
		return 0
	}
	close(w.end)
	return <-w.peak
}

// A status is the state of a process that the system reports.
type status struct {
	parent   int
	resident int64 // bytes of RssAnon and RssShmem
}

// statuses returns the status of all processes.
func statuses() map[int]status {
	all := map[int]status{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		all[pid] = statusOf(pid)
	}
	return all
}

// statusOf returns the status of a process, zero if there is none.
func statusOf(pid int) status {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return readStatus(text)
}

func readStatus(text []byte) (s status) {
	parent, _ := limits.Sum(text, "PPid")
	s.resident, _ = limits.Sum(text, "RssAnon", "RssShmem")
	s.parent = int(parent)
	return s
}

// family returns a process and its descendants.
func family(all map[int]status, pid int) []int {
	pids := []int{pid}
	for child, s := range all {
		if s.parent == pid {
			pids = append(pids, family(all, child)...)
		}
	}
	return pids
}
