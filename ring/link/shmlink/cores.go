package shmlink

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CoresEach returns how many cores each of so many workers of this host may use,
// as one of them sees it without asking the others: its even part of the cores
// of the machine, but no more than it is bound to. 0 means that there are more
// workers than cores.
//
// Where a launcher has bound each worker to cores of its own (mpirun, srun) these
// are its part already, and dividing them again would leave most of the machine
// idle.
func CoresEach(workers int) int {
	own := runtime.NumCPU()
	return coresEach(workers, own, max(own, onlineCores()))
}

func coresEach(workers, own, machine int) int {
	return min(own, machine/max(workers, 1))
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
