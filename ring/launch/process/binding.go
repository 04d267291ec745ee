package process

import (
	"fmt"
	"strconv"
	"strings"

	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
)

// Binding says whether a rank is kept on cores of its own.
type Binding int

const (
	BindNone Binding = iota
	BindCore         // the host's cores are divided among its ranks
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

// Share returns the cores of local rank i of n: neighbours in the list, as
// many for each rank as there are. Ranks that outnumber the cores share them,
// neighbours the same one.
func Share(cores []int, i, n int) []int {
	first, last := i*len(cores)/n, (i+1)*len(cores)/n
	return cores[first:max(last, first+1)]
}

// ThreadVariables tell libraries how many threads a share of all cores is worth, which so many ranks have: no more than
// the rank's part of a quota.
func ThreadVariables(share []int, all, ranks int) []string {
	n := strconv.Itoa(max(min(len(share), cores.Limited(all)/max(ranks, 1)), 1))
	return []string{"GOMAXPROCS=" + n, "OMP_NUM_THREADS=" + n}
}

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
