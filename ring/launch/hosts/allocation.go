package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/internal/environ"
	"ringtrain/ring/phrase"
)

// An Allocation is the set of hosts that a scheduler has given to the job of this process.
type Allocation struct {
	Scheduler string // "Slurm", "PBS" or "LSF"
	ID        string // of the scheduler's job
	Hosts     []Host
}

// String names the allocation and its hosts, for people.
func (a *Allocation) String() string {
	return fmt.Sprintf("hosts of the %s allocation %s: %s", a.Scheduler, a.ID, Summary(a.Hosts))
}

// FindAllocation returns the allocation that this process should use whole: that of salloc,
// of a batch script, of PBS or of LSF. It returns nil if there is none.
//
// A process that is itself a task of srun, mpirun, mpiexec or run gets nil: its launcher
// has started it on this host, perhaps beside other tasks.
//
// Variables that are incomplete or wrong are exitcode.Usage. A missing file of hosts is
// exitcode.NoInput.
func FindAllocation(getenv func(string) string, variables []string) (*Allocation, error) {
	e := environ.New(getenv, variables)
	if e.Any("RINGTRAIN_RANK") || environ.Nested(e) || environ.HasSlurmTask(e) {
		return nil, nil
	}
	for _, find := range []func(environ.Vars) (*Allocation, error){slurmAllocation, pbsAllocation, lsfAllocation} {
		a, err := find(e)
		if err != nil {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%w; -H gives hosts instead, -H localhost:N keeps the ranks here", err))
		}
		if a != nil {
			return a, nil
		}
	}
	return nil, nil
}

// slurmAllocation reads an allocation of Slurm. A host has as many slots as tasks. If Slurm
// sets no number of tasks, a host has as many slots as tasks would have cores.
func slurmAllocation(e environ.Vars) (*Allocation, error) {
	const id, list = "SLURM_JOB_ID", "SLURM_JOB_NODELIST"
	set, missing := e.Split(id, list)
	switch {
	case len(set) == 0:
		return nil, nil
	case e.Any("SLURM_HET_SIZE"):
		return nil, fmt.Errorf("SLURM_HET_SIZE is %q: the hosts of a heterogeneous job are not read", e.Get("SLURM_HET_SIZE"))
	case len(missing) > 0:
		return nil, environ.Incomplete(set, missing)
	}
	nodes, err := environ.ExpandNodes(e.Get(list), MaxSlots)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	slots, err := slurmSlots(e, len(nodes))
	if err != nil {
		return nil, err
	}
	hosts := make([]Host, len(nodes))
	for i, name := range nodes {
		hosts[i] = Host{Name: name, Slots: slots[i]}
	}
	return finishAllocation(&Allocation{"Slurm", e.Get(id), hosts}, list, e.Get("SLURMD_NODENAME"))
}

// slurmSlots returns the slots of each of n hosts.
func slurmSlots(e environ.Vars, n int) ([]int, error) {
	const tasks, each, cores = "SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"
	switch {
	case e.Any(tasks):
		return expandCounts(tasks, e.Get(tasks), n)
	case e.Any(each):
		count, err := parseSlots(each, e.Get(each))
		return slices.Repeat([]int{count}, n), err
	case !e.Any(cores):
		return nil, environ.Incomplete([]string{"SLURM_JOB_NODELIST"}, []string{tasks})
	}
	slots, err := expandCounts(cores, e.Get(cores), n)
	if err != nil {
		return nil, err
	}
	per, err := e.Int("SLURM_CPUS_PER_TASK", 1, 1)
	for i := range slots {
		slots[i] = max(slots[i]/per, 1)
	}
	return slots, err
}

// expandCounts reads n numbers in the form of Slurm: "3,2(x2),1" is 3, 2, 2, 1.
func expandCounts(name, text string, n int) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(text, ",") {
		number, times, isRepeated := strings.Cut(word, "(x")
		count, err := parseSlots(name, number)
		repeat := 1
		if isRepeated && err == nil {
			digits, closed := strings.CutSuffix(times, ")")
			if repeat, err = strconv.Atoi(digits); err != nil || !closed || repeat < 1 {
				err = errors.New("no such number")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %s, want numbers between commas, such as 4(x2),1", name, phrase.Quote(text))
		}
		if all = append(all, slices.Repeat([]int{count}, min(repeat, n+1))...); len(all) > n {
			break
		}
	}
	if len(all) != n {
		return nil, fmt.Errorf("%s is %s, want one number for each of the %s of SLURM_JOB_NODELIST", name, phrase.Quote(text), phrase.Count(n, "host"))
	}
	return all, nil
}

// UnreadAllocation returns a line for people if this process is in a job of SGE, whose hosts
// are not read, "" otherwise.
func UnreadAllocation(getenv func(string) string) string {
	file := getenv("PE_HOSTFILE")
	if file == "" {
		return ""
	}
	return fmt.Sprintf("SGE job %s has its hosts in PE_HOSTFILE, %s, which run does not read: all ranks run on this host, unless -H or --hostfile gives others",
		cmp.Or(getenv("JOB_ID"), "?"), file)
}

// pbsAllocation reads an allocation of PBS: one slot for each line of its file of hosts.
func pbsAllocation(e environ.Vars) (*Allocation, error) {
	const id, file = "PBS_JOBID", "PBS_NODEFILE"
	set, missing := e.Split(id, file)
	switch {
	case len(set) == 0:
		return nil, nil
	case len(missing) > 0:
		return nil, environ.Incomplete(set, missing)
	}
	return allocationOfFile("PBS", e.Get(id), file, e.Get(file))
}

// lsfAllocation reads an allocation of LSF: one slot for each line of its file of hosts.
// Without a file the slots are those of LSB_MCPU_HOSTS, "a 4 b 4".
func lsfAllocation(e environ.Vars) (*Allocation, error) {
	const id, file, list = "LSB_JOBID", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS"
	switch {
	case !e.Any(id, file, list):
		return nil, nil
	case !e.Any(id):
		set, _ := e.Split(file, list)
		return nil, environ.Incomplete(set, []string{id})
	case e.Any(file):
		return allocationOfFile("LSF", e.Get(id), file, e.Get(file))
	case !e.Any(list):
		return nil, environ.Incomplete([]string{id}, []string{file})
	}
	words := strings.Fields(e.Get(list))
	var hosts []Host
	for pair := range slices.Chunk(words, 2) {
		h := Host{Name: pair[0]}
		err := errors.New("odd number of words")
		if len(pair) == 2 {
			h.Slots, err = parseSlots("slots", pair[1])
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %s, want hosts and their slots, such as a 4 b 4", list, phrase.Quote(e.Get(list)))
		}
		hosts = append(hosts, h)
	}
	return finishAllocation(&Allocation{"LSF", e.Get(id), hosts}, list, "")
}

// maxNodeFile bounds a file of hosts, which has one line for each slot.
const maxNodeFile = MaxSlots * 256

// allocationOfFile reads a file with one host a line. A host comes once for each of its
// slots.
func allocationOfFile(scheduler, id, variable, path string) (*Allocation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("%s: %w", variable, err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNodeFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", variable, err)
	case len(text) > maxNodeFile:
		return nil, fmt.Errorf("%s: %s is longer than %d bytes", variable, path, maxNodeFile)
	}
	var hosts []Host
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if name := strings.TrimSpace(line); name != "" {
			hosts = append(hosts, Host{Name: name, Slots: 1})
		}
	}
	return finishAllocation(&Allocation{scheduler, id, hosts}, variable+": "+path, "")
}

// finishAllocation checks the hosts and merges those of one name. place is their source,
// for errors. own is the scheduler's name for this host, or "".
func finishAllocation(a *Allocation, place, own string) (*Allocation, error) {
	if len(a.Hosts) == 0 {
		return nil, fmt.Errorf("%s: no host in it", place)
	}
	for i, h := range a.Hosts {
		if err := CheckName(h.Name); err != nil || strings.Contains(h.Name, "@") {
			return nil, fmt.Errorf("%s: host %d is %s, want a name or an address", place, i+1, phrase.Quote(h.Name))
		}
	}
	names := thisMachine()
	names.allocationNames = names.aliases(a.Hosts)
	if own != "" {
		names.allocationNames = append(names.allocationNames, own)
	}
	hosts, err := mergeHosts(a.Hosts, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	a.Hosts = hosts
	return a, nil
}

// aliases returns the name of this machine in an allocation if it differs from the
// machine's own name by the domain alone. Two such names are two hosts, and neither is this
// machine.
func (n machineNames) aliases(hosts []Host) []string {
	var found []string
	own, _, _ := strings.Cut(n.host, ".")
	for _, h := range hosts {
		if short, _, _ := strings.Cut(h.Name, "."); own != "" && short == own && !slices.Contains(found, h.Name) {
			found = append(found, h.Name)
		}
	}
	if len(found) > 1 {
		return nil
	}
	return found
}
