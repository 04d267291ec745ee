package ring

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CoresEach returns how many cores each of so many workers of this host may use,
// as one of them sees it: its even part of those that they have together, but no
// more than it is bound to. 0 means that there are more workers than cores.
//
// together is what their memory tells (Group.Cores): the cores that any of
// them is bound to. If it is 0, unknown, they are taken to have all cores of the
// machine.
//
// Where a launcher has bound each worker to cores of its own (mpirun, srun) these
// are its part already, and dividing them again would leave most of the machine
// idle. Where all are bound to the same ones they have these together.
func CoresEach(workers, together int) int {
	own := runtime.NumCPU()
	if together <= 0 {
		together = max(own, onlineCores())
	}
	return coresEach(workers, own, together)
}

func coresEach(workers, own, together int) int {
	return min(own, together/max(workers, 1))
}

// onlineCores returns how many cores the machine has, 0 where the kernel does
// not tell, as on other systems than Linux.
func onlineCores() int {
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
