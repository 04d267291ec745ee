// Package limits reads the resources of a host and the limits that control groups set for this
// process. It reads files of Linux; on other systems nothing is known.
package limits

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/cores"
)

// Limits has the limits of control groups: the strictest of this process's own group and those
// above it. −1: no limit.
type Limits struct {
	Tasks  int64
	Memory int64 // bytes
	Used   int64 // bytes of Memory, without cached file pages, which the kernel reclaims
}

// ControlGroup reads the limits of cgroup v2, or those of v1 where the container's own group is
// mounted as the root of each hierarchy. read is os.ReadFile except in tests.
func ControlGroup(read func(string) ([]byte, error)) Limits {
	g := Limits{Tasks: -1, Memory: -1}
	number := func(name string) int64 {
		text, err := read("/sys/fs/cgroup" + name)
		n, err2 := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || err2 != nil || n <= 0 || n >= math.MaxInt64/2 { // "max", and v1's large number
			return -1
		}
		return n
	}
	for at := cores.GroupPath(read); ; at = at[:strings.LastIndexByte(at, '/')] {
		g.Tasks = Stricter(g.Tasks, number(at+"/pids.max"))
		if most := number(at + "/memory.max"); most > 0 && (g.Memory < 0 || most < g.Memory) {
			g.Memory, g.Used = most, used(number(at+"/memory.current"), read, at+"/memory.stat", "inactive_file")
		}
		if at == "" {
			break
		}
	}
	g.Tasks = Stricter(g.Tasks, number("/pids/pids.max"))
	if most := number("/memory/memory.limit_in_bytes"); g.Memory < 0 && most > 0 {
		g.Memory, g.Used = most, used(number("/memory/memory.usage_in_bytes"), read, "/memory/memory.stat", "total_inactive_file")
	}
	return g
}

// used returns the use of a group, less the cached pages that were not read for a while, which
// the named line of its statistics counts.
func used(all int64, read func(string) ([]byte, error), name, line string) int64 {
	text, _ := read("/sys/fs/cgroup" + name)
	cached, _ := Sum(text, line)
	return max(all-max(cached, 0), 0)
}

// Sum returns the sum of the numbers that named lines of the kernel's text have, such as "VmHWM: 9 kB",
// and whether there is one. kB count as bytes.
func Sum(text []byte, names ...string) (sum int64, found bool) {
	for l := range strings.Lines(string(text)) {
		fields := strings.Fields(l)
		if len(fields) < 2 || !slices.Contains(names, strings.TrimSuffix(fields[0], ":")) {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 50)
		if err != nil {
			continue
		}
		if len(fields) > 2 {
			n <<= 10
		}
		sum, found = sum+n, true
	}
	return sum, found
}

// Stricter returns the stricter of two limits. A value of 0 or less is no limit.
func Stricter(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Memory returns the memory of the host and the part that is available, in bytes; 0: not known.
func Memory(read func(string) ([]byte, error)) (all, free int64) {
	text, _ := read("/proc/meminfo")
	all, _ = Sum(text, "MemTotal")
	free, _ = Sum(text, "MemAvailable")
	return all, free
}

// Free returns the bytes of memory that this process may still take: the host's available
// memory, or the rest of its control group's limit. It returns false if neither is known.
func Free() (int64, bool) {
	_, free := Memory(os.ReadFile)
	g := ControlGroup(os.ReadFile)
	if g.Memory > 0 {
		left := max(g.Memory-g.Used, 0)
		if free == 0 {
			return left, true
		}
		free = min(free, left)
	}
	return free, free > 0 || g.Memory > 0
}
