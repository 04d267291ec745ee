// Package cores counts the cores that this process may use. All counts of cores come from here,
// so that the ring, the trainer, the launcher and the benchmarks agree.
//
//	          affinity       CPU quota of its control groups
//	             │                      │
//	own = min( bound,   quota, rounded up to whole cores )
//
// A container with a quota of two cores on a machine of 64 has an affinity of 64 cores, but only
// two to use. The quota belongs to the container: the workers of a host divide it.
package cores

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Own returns the number of cores that this process may use, at least 1.
func Own() int { return withinQuota(Affinity(), Quota(os.ReadFile)) }

// Affinity returns the number of cores in this process's affinity, by default all of the machine.
func Affinity() int { return runtime.NumCPU() }

// WithinQuota returns n, or the quota if that is less.
func WithinQuota(n int) int { return withinQuota(n, Quota(os.ReadFile)) }

func withinQuota(n int, quota float64) int {
	if quota <= 0 {
		return n
	}
	return min(n, int(math.Ceil(min(quota, math.MaxInt32))))
}

// PerWorker returns the number of cores for each of workers on this host, as one of them sees it: an
// even part of the cores that they have together, but no more than its own affinity. 0 means
// that there are more workers than cores.
//
// together is the number of cores in the union of their affinities (ring.Group.Cores). If it is
// 0, unknown, Each assumes all cores of the machine, or the quota.
//
// Where a launcher has bound each worker to cores of its own (mpirun, srun), these cores are its
// part already. Dividing them again would leave most of the machine idle. Workers with the same
// affinity divide its cores.
func PerWorker(workers, together int) int {
	return perWorker(workers, Affinity(), together, online(), Quota(os.ReadFile))
}

func perWorker(workers, own, together, online int, quota float64) int {
	if together <= 0 {
		together = max(own, online)
	}
	return min(withinQuota(own, quota), withinQuota(together, quota)/max(workers, 1))
}

// online returns the number of cores of the machine, or 0 if it is unknown, as on other systems
// than Linux.
func online() int {
	list, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	return countCores(strings.TrimSpace(string(list)))
}

// countCores counts the cores in a list such as "0-3,8". It returns 0 for a malformed list.
func countCores(list string) int {
	n := 0
	for span := range strings.SplitSeq(list, ",") {
		first, last, several := strings.Cut(span, "-")
		if !several {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err != nil || err2 != nil || to < from {
			return 0
		}
		n += int(to-from) + 1
	}
	return n
}

// Quota returns the CPU quota of this process in cores: the least of its own cgroup v2 and
// those above, or that of v1 where the container's own group is mounted as the root. 0: no
// limit. read is os.ReadFile except in tests.
func Quota(read func(string) ([]byte, error)) float64 {
	least := v1Quota(read)
	for at := GroupPath(read); ; at = at[:strings.LastIndexByte(at, '/')] {
		text, err := read("/sys/fs/cgroup" + at + "/cpu.max")
		if q := ratio(string(text)); err == nil && q > 0 && (least == 0 || q < least) {
			least = q
		}
		if at == "" {
			return least
		}
	}
}

// v1Quota returns the quota of cgroup v1, or 0 for none, which v1 writes as -1.
func v1Quota(read func(string) ([]byte, error)) float64 {
	quota, err := read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
	period, err2 := read("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
	if err != nil || err2 != nil {
		return 0
	}
	return ratio(strings.TrimSpace(string(quota)) + " " + string(period))
}

// ratio returns the quotient of the two positive numbers in text, or 0 for other text, as "max 100000".
func ratio(text string) float64 {
	var quota, period float64
	if n, _ := fmt.Sscan(text, &quota, &period); n < 2 || quota <= 0 || period <= 0 || math.IsInf(quota, 0) || math.IsNaN(quota/period) {
		return 0
	}
	return quota / period
}

// GroupPath returns the path of this process's cgroup v2, such as "/a/b"; "" is the root.
func GroupPath(read func(string) ([]byte, error)) string {
	text, _ := read("/proc/self/cgroup")
	for l := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(l), "0::"); ok && strings.HasPrefix(path, "/") && !strings.Contains(path, "..") {
			return strings.TrimSuffix(path, "/")
		}
	}
	return ""
}
