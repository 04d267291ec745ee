package train

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/limits"
)

// memoryNeeded returns the bytes that a number of ranks of one host need: values, slots and averages
// of the variables, gradients of all variables but those by rows, and the layers' memory for the
// examples of each rank.
func (t *Trainer) memoryNeeded(ranks, examples int) float64 {
	copies := 1 + t.job.Optimizer.Slots()
	if t.job.Train.Average.Decay > 0 {
		copies++
	}
	elements := float64(t.model.Room()) * float64(examples)
	for _, v := range t.model.Variables() {
		elements += float64(v.Len()) * float64(copies)
		if !v.ByRows {
			elements += float64(v.Len())
		}
	}
	return 4 * elements * float64(ranks)
}

// checkMemoryFits returns an error if this host's ranks need more memory than is free. It is called
// before the memory is taken, because the kernel kills a process that takes too much without a
// message.
func (t *Trainer) checkMemoryFits(ranks, examples int, free int64) error {
	need := t.memoryNeeded(ranks, examples)
	if need <= float64(free) {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf(
		"the model has %d parameters and needs %s with gradients, the slots of %s and the layers of %d examples, for %d ranks on this host; %s are left: want a smaller model or batch, or fewer ranks a host",
		t.model.Graph().Parameters(), gib(need), t.job.Optimizer.Name, examples, ranks, gib(float64(free))))
}

// gib formats a number of bytes in GiB.
func gib(n float64) string { return fmt.Sprintf("%.1f GiB", n/(1<<30)) }

// largestPart returns the largest number of examples that a rank computes at a time.
func (t *Trainer) largestPart(size int) int {
	share := (t.job.GlobalBatch(size) + size - 1) / size
	return (share + t.job.Train.Accumulate - 1) / max(1, t.job.Train.Accumulate)
}

// checkMemory is checkMemoryFits with the free memory of this host. It passes if that is unknown.
func (t *Trainer) checkMemory(ranks, examples int) error {
	free, known := limits.Free()
	if !known {
		return nil
	}
	return t.checkMemoryFits(ranks, examples, free)
}

// statusBytes returns a line of memory of this process in bytes, 0 if the system does not report it. VmHWM is the largest
// resident memory: getrusage includes the memory of the parent before exec.
func statusBytes(line string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	n, _ := limits.Sum(text, line)
	return n
}

// memory is the resident memory of this process, which is read as often as it is told.
type memory struct {
	asked time.Time
	bytes int64
}

// read returns the resident bytes, 0 if the system does not report them.
func (m *memory) read(now time.Time) int64 {
	if now.Sub(m.asked) >= ranksInterval {
		m.asked, m.bytes = now, statusBytes("VmRSS")
	}
	return m.bytes
}

// ShareCores limits the threads of this process to its share of the host's cores, permanently. It
// returns the share, which is at least 1. More threads would only take cores from other ranks of the
// host. Fixed is the user's GOMAXPROCS, 0 for none; it stays if it is at least ring.LeastThreads.
// Together is the result of ring.Group.Cores. A process calls ShareCores once it knows the other ranks
// of the host.
func ShareCores(m ring.Membership, together, fixed int) int {
	_, local := m.Local()
	share := max(cores.PerWorker(local, together), 1)
	threads := share
	if fixed > 0 {
		share, threads = min(share, fixed), fixed
	}
	runtime.GOMAXPROCS(max(threads, ring.LeastThreads))
	return share
}
