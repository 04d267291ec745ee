package place

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/launch/internal/environ"
)

// A dialect is one launcher that tells a rank its place in variables of its own. The name of
// a variable may be several with | between: the first that is set counts. A * in a name
// stands for any text.
type dialect struct {
	source  string
	numbers numberNames
	at      []string                                        // say where rank 0 is; missing ones can be replaced by --rendezvous
	applies func(environ.Vars) (bool, error)                // nil: whenever a variable is set
	idle    func(environ.Vars) string                       // nil: each process is a rank; else why this one has nothing to do
	jobID   func(environ.Vars) string                       // nil: no variable names the job
	address func(environ.Vars, explicitPlace, *claim) error // stores the rendezvous in the claim, or why it is unknown; nil: nothing says where rank 0 is
	last    bool                                            // counts only if nothing before it in the list tells the place
}

// dialects is the only list of launchers, but for TF_CONFIG, which is JSON and comes first.
var dialects = []dialect{
	{source: "RANK/WORLD_SIZE", numbers: numberNames{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
		at: []string{"MASTER_ADDR", "MASTER_PORT"}, jobID: torchJob, address: torchMaster},
	{source: "Open MPI", numbers: numbersOf(environ.OpenMPIPrefix),
		jobID: firstOf("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"), address: onOneHost},
	{source: "PET_*", numbers: numberNames{rank: "PET_NODE_RANK", size: "PET_NNODES"},
		at: []string{"PET_MASTER_ADDR", "PET_MASTER_PORT"}, applies: torchrunApplies, address: torchrunMaster},
	{source: "MVAPICH2", numbers: numbersOf(environ.MVAPICHPrefix)},
	{source: "Horovod", numbers: numbersOf(environ.HorovodPrefix)},
	{source: "DMLC", numbers: numberNames{rank: "DMLC_WORKER_ID|DMLC_TASK_ID", size: "DMLC_NUM_WORKER"}, idle: dmlcRole},
	{source: "PMI", numbers: numberNames{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
		at: []string{"PMI_FD"}, applies: pmiApplies, jobID: firstOf("PMI_JOBID"), address: pmiAddress},
	{source: "jsrun", numbers: numbersOf("JSM_NAMESPACE_"), applies: notNested, jobID: firstOf("PMIX_NAMESPACE"), address: onOneHost},
	{source: "Flux", numbers: numberNames{rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE", localRank: "FLUX_TASK_LOCAL_ID"},
		applies: notNested, jobID: firstOf("FLUX_JOB_ID"), address: fluxAddress},
	{source: "SLURM_*", numbers: numberNames{rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS|SLURM_NTASKS", localRank: "SLURM_LOCALID"},
		applies: slurmApplies, address: slurmStep},
	{source: "PMIx", numbers: numberNames{rank: "PMIX_RANK"}, applies: pmixApplies, jobID: firstOf("PMIX_NAMESPACE")},
	{source: completionIndex, numbers: numberNames{rank: completionIndex}, applies: notNested, address: firstPod},
	{source: "AWS Batch", numbers: numberNames{rank: "AWS_BATCH_JOB_NODE_INDEX", size: "AWS_BATCH_JOB_NUM_NODES"}, applies: notNested, last: true},
	{source: "Volcano", numbers: numberNames{rank: "VC_TASK_INDEX|VK_TASK_INDEX", size: "VC_*_NUM"}, applies: notNested, address: volcanoHost, last: true},
}

// numbersOf returns the variables of a launcher that differ in their ending alone.
func numbersOf(prefix string) numberNames {
	return numberNames{prefix + "RANK", prefix + "SIZE", prefix + "LOCAL_RANK", prefix + "LOCAL_SIZE"}
}

// firstOf returns a function that looks up the first of names that is set.
func firstOf(names ...string) func(environ.Vars) string {
	return func(e environ.Vars) string { return e.Get(pick(e, strings.Join(names, "|"))) }
}

// pick returns the variable that a name of a dialect stands for. It is the last of its variables
// if none is set, and none if several match a *: Volcano does not say which of its tasks train.
func pick(e environ.Vars, name string) string {
	for one := range strings.SplitSeq(name, "|") {
		name = one
		if begin, end, open := strings.Cut(one, "*"); open {
			other := func(found string) bool { return !strings.HasSuffix(found, end) }
			switch found := slices.DeleteFunc(e.WithPrefix(begin), other); len(found) {
			case 0:
			case 1:
				return found[0]
			default:
				return "a single " + one
			}
		}
		if e.Any(one) {
			break
		}
	}
	return name
}

// notNested reports whether the variables are those of this process. A launcher inside a
// pod or a step begins with one process there, and the ranks that it starts inherit its
// variables.
func notNested(e environ.Vars) (bool, error) { return !environ.Nested(e), nil }

// claim returns what d says about the place, nil if it says nothing.
func (d dialect) claim(e environ.Vars, g explicitPlace) (*claim, error) {
	if d.applies != nil {
		if ok, err := d.applies(e); !ok || err != nil {
			return nil, err
		}
	}
	if d.idle != nil {
		if why := d.idle(e); why != "" {
			return &claim{Place: Place{Rank: -1, LocalRank: -1, Source: d.source, NotNeeded: why}}, nil
		}
	}
	numbers := numberNames{pick(e, d.numbers.rank), pick(e, d.numbers.size), d.numbers.localRank, d.numbers.localSize}
	needs := slices.DeleteFunc([]string{numbers.rank, numbers.size}, func(name string) bool { return name == "" })
	_, without := e.Split(needs...)
	set, missing := e.Split(slices.Concat(needs, d.at)...)
	switch {
	case len(set) == 0:
		return nil, nil
	case len(without) > 0:
		return nil, environ.Incomplete(set, missing)
	}
	c := &claim{Place: Place{Source: d.source}}
	if err := readNumbers(e, numbers, &c.Place); err != nil {
		return nil, err
	}
	if d.jobID != nil {
		c.JobID = d.jobID(e)
	}
	if len(missing) > 0 {
		c.missing = fmt.Errorf("%w, or add --rendezvous HOST:PORT", environ.Incomplete(set, missing))
		return c, nil
	}
	c.missing = noAddress(numbers, c.Rank, c.WorldSize)
	if d.address == nil {
		return c, nil
	}
	return c, d.address(e, g, c)
}

// noAddress is the error of a launcher that tells rank and world size, and not where rank 0
// is.
func noAddress(n numberNames, rank, size int) error {
	if size == 0 {
		return fmt.Errorf("%s is %d, and no variable has the world size: add --world-size N --rendezvous HOST:PORT (`ringtrain rendezvous` serves one)", n.rank, rank)
	}
	return fmt.Errorf("%s is %d and %s is %d, and no variable says where rank 0 is: add --rendezvous HOST:PORT "+
		"(`ringtrain rendezvous` serves one), or --world-size 1 if one process is meant", n.rank, rank, n.size, size)
}

// unknownLaunchers returns the claims of launchers that are in no list: of each two variables
// X_RANK and X_SIZE, or another name of the world size. Numbers of a part of the job, such as
// X_LOCAL_RANK, are none of a launcher. Nor is a rank above the size, but some launchers may count from 1.
func unknownLaunchers(e environ.Vars) []claim {
	var claims []claim
	for _, name := range e.WithPrefix("") {
		begin, ok := strings.CutSuffix(name, "_RANK")
		if begin = strings.TrimSuffix(begin, "_WORLD"); !ok || isPart(begin) {
			continue
		}
		for _, ending := range []string{"_SIZE", "_WORLD_SIZE", "_NTASKS", "_NPROCS"} {
			n := numberNames{rank: name, size: begin + ending}
			rank, err1 := e.Int(n.rank, 0, -1)
			size, err2 := e.Int(n.size, 2, 0)
			if err1 == nil && err2 == nil && rank >= 0 && rank <= size && size > 1 {
				claims = append(claims, claim{missing: noAddress(n, rank, size),
					Place: Place{Rank: rank, WorldSize: size, LocalRank: -1, Source: n.rank + "/" + n.size}})
			}
		}
	}
	return claims
}

// isPart reports whether variables that begin so count the ranks of a part of the job.
func isPart(begin string) bool {
	switch begin[strings.LastIndexByte(begin, '_')+1:] {
	case "LOCAL", "NODE", "CROSS":
		return true
	}
	return false
}
