package train

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/limits"
)

// slotsOf is the number of slots of a variable that an optimizer keeps.
var slotsPerVariable = map[string]int{
	"sgd": 0, "momentum": 1, "adagrad": 1, "adadelta": 2, "adam": 2, "lazy-adam": 2, "adamw": 2, "ftrl": 2, "rmsprop": 3,
}

// needs is what so many ranks of a host take, in bytes: values, slots and averages of the
// variables, gradients of all but those by rows, and what the layers keep of so many examples
// on each rank.
func (t *Trainer) memoryNeeded(ranks, examples int) float64 {
	copies := 1 + slotsPerVariable[t.job.Optimizer.Name]
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

// wantMemory fails if this host's ranks need more memory than is left: before it is taken,
// since a process that takes too much is killed without a word.
func (t *Trainer) checkMemoryFits(ranks, examples int, free int64) error {
	need := t.memoryNeeded(ranks, examples)
	if need <= float64(free) {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf(
		"the model has %d parameters and needs %s with gradients, the slots of %s and the layers of %d examples, for %d ranks on this host; %s are left: want a smaller model or batch, or fewer ranks a host",
		t.model.Graph().Parameters(), gib(need), t.job.Optimizer.Name, examples, ranks, gib(float64(free))))
}

// gib is a number of bytes for people.
func gib(n float64) string { return fmt.Sprintf("%.1f GiB", n/(1<<30)) }

// part is the most examples that a rank of so many computes at a time.
func (t *Trainer) largestPart(size int) int {
	share := (t.job.GlobalBatch(size) + size - 1) / size
	return (share + t.job.Train.Accumulate - 1) / max(1, t.job.Train.Accumulate)
}

// checkMemory is wantMemory with what this host has left.
func (t *Trainer) checkMemory(ranks, examples int) error {
	free, known := limits.Free()
	if !known {
		return nil
	}
	return t.checkMemoryFits(ranks, examples, free)
}

// maxRSS is the largest resident memory that this process had, in bytes, 0
// where the system does not say. (getrusage counts what the parent had before
// exec; VmHWM does not.)
func maxRSS() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		rest, ok := strings.CutPrefix(s.Text(), "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}

// ShareCores limits the threads that this process computes and communicates on
// to its share of the host's cores, for good, and returns the share, which is 1
// at least. More threads than that only take the cores from the host's other
// ranks. fixed is the number that the user has set by GOMAXPROCS, 0 for none: it stays, if
// it is ring.LeastThreads or more. A process calls it once it
// knows who else is on the host; together is what ring.Group.Cores says.
func ShareCores(m ring.Membership, together, fixed int) int {
	_, local := m.Local()
	share := max(cores.Each(local, together), 1)
	threads := share
	if fixed > 0 {
		share, threads = min(share, fixed), fixed
	}
	runtime.GOMAXPROCS(max(threads, ring.LeastThreads))
	return share
}
