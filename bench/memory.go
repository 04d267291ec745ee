package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"ringtrain/ring"
	"ringtrain/ring/limits"
)

// Memory is the memory of a group, as the mean over its ranks. Each rank counts its
// share of shared memory. Its JSON form is the last line of bench allreduce --json.
//
// Beyond is the measured growth of the processes from before rendezvous until the last
// operation, without the benchmark's own buffers. It includes links, rendezvous and the
// Go runtime, but not the kernel's socket buffers.
type Memory struct {
	Ranks  int   `json:"ranks"`
	Arena  int64 `json:"arena_bytes"`  // the summed buffers
	Beyond int64 `json:"beyond_bytes"` // all other memory of the group; 0 if not measured

	// Allocations is the number of heap allocations per in-place sum, during timed sums,
	// of the whole process. Each heartbeat of the rendezvous allocates too, which
	// dominates if sums are slow. The first size does not count unless it is the only
	// one.
	Allocations float64 `json:"allocations"`
}

// Kind names the event.
func (Memory) Kind() string { return "memory" }

// String returns the last line of the table.
func (m Memory) String() string {
	return fmt.Sprintf("# memory of a rank: arena %.1f MiB, beyond it %.1f MiB (%.2f of the arena): links, group, rendezvous; %.2f allocations a sum",
		float64(m.Arena)/(1<<20), float64(m.Beyond)/(1<<20), float64(m.Beyond)/float64(m.Arena), m.Allocations)
}

// Footprint returns the private memory of this process in bytes after a garbage
// collection: anonymous pages, and shared-memory pages divided by the number of
// processes that map them. If the system does not report pages, Footprint returns the
// memory of the Go runtime.
func Footprint() int64 {
	debug.FreeOSMemory()
	text, _ := os.ReadFile("/proc/self/smaps_rollup")
	if n, ok := limits.Sum(text, "Pss_Anon", "Pss_Shmem"); ok { // proc_pid_smaps_rollup(5)
		return n
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.Sys - s.HeapReleased)
}

// memory returns the mean over the ranks.
func (m *meter) memory(ctx context.Context) (Memory, error) {
	mine := Memory{Arena: ElementBytes * int64(len(m.arena)), Allocations: float64(m.allocated) / float64(max(m.sums, 1))}
	if m.c.Before > 0 {
		mine.Beyond = m.growth + Footprint() - m.base - mine.Arena
	}
	told := binary.LittleEndian.AppendUint64(nil, uint64(mine.Beyond))
	told = binary.LittleEndian.AppendUint64(told, math.Float64bits(mine.Allocations))
	var of ring.Gathered
	if err := m.g.AllGather(ctx, told, &of); err != nil {
		return Memory{}, err
	}
	all := Memory{Ranks: m.g.Membership().Size(), Arena: mine.Arena}
	for rank := range all.Ranks {
		one := of.At(rank)
		all.Beyond += int64(binary.LittleEndian.Uint64(one))
		all.Allocations += math.Float64frombits(binary.LittleEndian.Uint64(one[8:])) / float64(all.Ranks)
	}
	all.Beyond = max(all.Beyond/int64(all.Ranks), 0)
	return all, nil
}
