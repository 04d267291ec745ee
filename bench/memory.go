package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"ringtrain/ring"
)

// Memory is what the ranks of a group take, as the mean of the ranks: where
// they share memory, each counts its part of it. Its JSON form is the last line
// of bench allreduce --json.
//
// Beyond is measured: it is the growth of the processes, from before they met until all
// operations have run, without what the bench itself needs: links, rendezvous
// and the runtime's own share are in it; buffers of the kernel's sockets are
// not.
type Memory struct {
	Ranks  int   `json:"ranks"`
	Arena  int64 `json:"arena_bytes"`  // the buffers that are summed
	Beyond int64 `json:"beyond_bytes"` // what the group takes besides; 0 if it was not asked for

	// Allocations are those on the heap while buffers were summed in place and
	// timed, a sum, by all that runs in the process: the rendezvous' beat makes
	// about twenty each time, which are many a sum where sums take long. The first
	// size does not count unless it is the only one.
	Allocations float64 `json:"allocations"`
}

// Kind names the event.
func (Memory) Kind() string { return "memory" }

// String is the last line of the table.
func (m Memory) String() string {
	return fmt.Sprintf("# memory of a rank: arena %.1f MiB, beyond it %.1f MiB (%.2f of the arena): links, group, rendezvous; %.2f allocations a sum",
		float64(m.Arena)/(1<<20), float64(m.Beyond)/(1<<20), float64(m.Beyond)/float64(m.Arena), m.Allocations)
}

// Footprint is the memory that is this process's own, in bytes, after garbage
// is given back: anonymous pages, and pages of shared memory divided by the
// number of processes that have them. Where the system does not tell, it is
// what the Go runtime holds.
func Footprint() int64 {
	debug.FreeOSMemory()
	if f, err := os.Open("/proc/self/smaps_rollup"); err == nil {
		defer f.Close()
		if n, ok := ownPages(f); ok {
			return n
		}
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.Sys - s.HeapReleased)
}

// ownPages sums the lines of smaps_rollup (Linux, proc_pid_smaps_rollup(5)) that
// are not of files.
func ownPages(r io.Reader) (bytes int64, ok bool) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != "Pss_Anon" && name != "Pss_Shmem" {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, false
		}
		bytes, ok = bytes+kib<<10, true
	}
	return bytes, ok
}

// memory returns the mean over the ranks.
func (m *meter) memory(ctx context.Context) (Memory, error) {
	mine := Memory{Arena: elementBytes * int64(len(m.arena)), Allocations: float64(m.allocated) / float64(max(m.sums, 1))}
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
