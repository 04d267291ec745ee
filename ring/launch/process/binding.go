package process

import (
	"fmt"
	"strconv"
	"strings"

	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// Binding says whether a rank is bound to cores of its own.
type Binding int

const (
	BindNone Binding = iota
	BindCore         // the ranks of a host divide its cores
)

// ParseBinding reads "none" or "core".
func ParseBinding(s string) (Binding, error) {
	switch s {
	case "", "none":
		return BindNone, nil
	case "core":
		return BindCore, nil
	}
	return 0, exitcode.With(exitcode.Usage, fmt.Errorf("--bind-to is %q, want core or none", s))
}

// Share returns the cores of local rank i of n. The cores of a rank are neighbours in the
// list, and all ranks have equally many. If there are fewer cores than ranks, neighbouring
// ranks share a core.
func Share(cores []int, i, n int) []int {
	first, last := i*len(cores)/n, (i+1)*len(cores)/n
	return cores[first:max(last, first+1)]
}

// ThreadVariables returns the variables that tell libraries how many threads to start: one
// for each core of the share, but no more than the rank's part of a CPU quota. all is the
// number of cores of the host, ranks that of its ranks.
func ThreadVariables(share []int, all, ranks int) []string {
	n := strconv.Itoa(max(min(len(share), cores.WithinQuota(all)/max(ranks, 1)), 1))
	return []string{"GOMAXPROCS=" + n, "OMP_NUM_THREADS=" + n}
}

// CoresText lists cores for people.
func CoresText(cores []int) string {
	if len(cores) == 1 {
		return "core " + strconv.Itoa(cores[0])
	}
	first, last := cores[0], cores[len(cores)-1]
	if last-first == len(cores)-1 {
		return fmt.Sprintf("cores %d-%d", first, last)
	}
	return "cores " + strings.Trim(strings.ReplaceAll(fmt.Sprint(cores), " ", ","), "[]")
}
