package speed

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryEvery is the time between two looks at the memory of a run.
const memoryEvery = 50 * time.Millisecond

// A memoryWatch looks at the processes of a run until it is stopped.
type memoryWatch struct {
	end  chan struct{}
	peak chan int64
}

// watchMemory watches a process and its children, where the system tells of them.
func watchMemory(pid int) memoryWatch {
	w := memoryWatch{make(chan struct{}), make(chan int64, 1)}
	go func() {
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		peak := int64(0)
		for {
			select {
			case <-w.end:
				w.peak <- peak
				return
			case <-tick.C:
				peak = max(peak, largest(statuses(), pid))
			}
		}
	}()
	return w
}

// stop ends the watch and returns the most bytes that one of the processes had as
// RssAnon and RssShmem; 0 where the system tells nothing.
func (w memoryWatch) stop() int64 {
	close(w.end)
	return <-w.peak
}

// A status is what the system tells of a process.
type status struct {
	parent   int
	resident int64 // bytes of RssAnon and RssShmem
}

// statuses are those of all processes.
func statuses() map[int]status {
	all := map[int]status{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if text, err := os.ReadFile("/proc/" + e.Name() + "/status"); err == nil {
			all[pid] = readStatus(string(text))
		}
	}
	return all
}

func readStatus(text string) (s status) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		if len(words) == 0 {
			continue
		}
		n, _ := strconv.ParseInt(words[0], 10, 64)
		switch name {
		case "PPid":
			s.parent = int(n)
		case "RssAnon", "RssShmem":
			s.resident += n << 10
		}
	}
	return s
}

// largest is the most that a process, or one that descends from it, has.
func largest(all map[int]status, pid int) int64 {
	most := all[pid].resident
	for child, s := range all {
		if s.parent == pid {
			most = max(most, largest(all, child))
		}
	}
	return most
}
