// Package cores counts the cores that this process may use. All counts of cores come from here, so that the ring, the
// trainer, the launcher and the benchmarks agree.
//
//	          bound to       CPU quota of its control groups
//	             │                      │
//	own = min( affinity,   quota, rounded up to whole cores )
//
// A container with a quota of two cores on a machine of 64 is bound to none of them, and yet has two. The
// quota is that of a container, whose processes have it together: workers of one host divide it.
package cores

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Own returns how many cores this process may use, 1 at least.
func Own() int { return limited(Bound(), Quota(os.ReadFile)) }

// Bound returns how many cores this process is bound to: all of the machine unless somebody has bound it.
func Bound() int { return runtime.NumCPU() }

// Limited returns n, or the quota where that is less.
func Limited(n int) int { return limited(n, Quota(os.ReadFile)) }

func limited(n int, quota float64) int {
	if quota <= 0 {
		return n
	}
	return min(n, int(math.Ceil(min(quota, math.MaxInt32))))
}

// Each returns how many cores each of so many workers of this host may use, as
// one of them sees it: its even part of those that they have together, but no
// more than it is bound to. 0 means that there are more workers than cores.
//
// together is what their memory tells (ring.Group.Cores): the cores that any of
// them is bound to. If it is 0, unknown, they are taken to have all cores of the
// machine, or the quota.
//
// Where a launcher has bound each worker to cores of its own (mpirun, srun) these
// are its part already, and dividing them again would leave most of the machine
// idle. Where all are bound to the same ones they have these together.
func Each(workers, together int) int {
	return each(workers, Bound(), together, online(), Quota(os.ReadFile))
}

func each(workers, own, together, online int, quota float64) int {
	if together <= 0 {
		together = max(own, online)
	}
	return min(limited(own, quota), limited(together, quota)/max(workers, 1))
}

// online returns how many cores the machine has, 0 where the kernel does
// not tell, as on other systems than Linux.
func online() int {
	list, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	return countCores(strings.TrimSpace(string(list)))
}

// countCores counts what a list such as "0-3,8" names; 0 if it is none.
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

// Quota returns the share of the machine's time, in cores, that control groups leave this process: the least of
// its own group of v2 and those above, or v1's where the container's own group is mounted as the root. 0: there
// is no limit. read is os.ReadFile.
func Quota(read func(string) ([]byte, error)) float64 {
	least := v1Quota(read)
	for at := Group(read); ; at = at[:strings.LastIndexByte(at, '/')] {
		text, err := read("/sys/fs/cgroup" + at + "/cpu.max")
		if q := ratio(string(text)); err == nil && q > 0 && (least == 0 || q < least) {
			least = q
		}
		if at == "" {
			return least
		}
	}
}

// v1Quota is the quota of v1, 0 for none: -1 µs of each period stands for that.
func v1Quota(read func(string) ([]byte, error)) float64 {
	quota, err := read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
	period, err2 := read("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
	if err != nil || err2 != nil {
		return 0
	}
	return ratio(strings.TrimSpace(string(quota)) + " " + string(period))
}

// ratio is the first of two positive numbers by the second, 0 if the text is anything else, as "max 100000" is.
func ratio(text string) float64 {
	var quota, period float64
	if n, _ := fmt.Sscan(text, &quota, &period); n < 2 || quota <= 0 || period <= 0 || math.IsInf(quota, 0) || math.IsNaN(quota/period) {
		return 0
	}
	return quota / period
}

// Group is this process's control group of v2, "" for the root: "/a/b".
func Group(read func(string) ([]byte, error)) string {
	text, _ := read("/proc/self/cgroup")
	for l := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(l), "0::"); ok && strings.HasPrefix(path, "/") && !strings.Contains(path, "..") {
			return strings.TrimSuffix(path, "/")
		}
	}
	return ""
}
