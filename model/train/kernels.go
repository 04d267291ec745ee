package train

import (
	"cmp"
	"fmt"
	"strings"

	"ringtrain/model/internal/kernel"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// KernelsChoice is the name under which ranks offer their kernel sets, see ring.Choice.
const KernelsChoice = "kernels"

// KernelSets returns the kernel sets that this rank offers, in ascending order: those that it
// has, or the one that the job wants.
func (t *Trainer) KernelSets() []string { return t.job.KernelSets() }

// chosenKernels returns the kernel set of all ranks of m. Where nobody chooses, as at world
// size 1 without a meeting, it is the highest that this rank offers.
func chosenKernels(j *job.Config, m ring.Membership) (kernel.Set, error) {
	offered := j.KernelSets()
	return kernel.ParseSet(cmp.Or(m.Choice(KernelsChoice).Value, offered[len(offered)-1]))
}

// tellKernels tells which kernel set the ranks have, if the checkpoint was trained with
// another one, the generation before had another one, or some rank could have a higher one. The run goes on, after a change with bits that one without it would not have.
func (r *run) tellKernels() {
	m, set := r.team.Group.Membership(), r.kernelSet.String()
	c, was := m.Choice(KernelsChoice), r.storedKernels
	r.storedKernels = ""
	var why []string
	if c.Lacks >= 0 {
		why = append(why, fmt.Sprintf("rank %d on %s has no higher one", c.Lacks, m.Workers[c.Lacks].Host))
	}
	switch next := r.where.step + 1; {
	case was != "" && was != set:
		why = append(why, fmt.Sprintf("the checkpoint was trained with %s: from step %d on bits may differ from those of a run without the change", was, next))
	case c.Was != "" && next > 1:
		why = append(why, fmt.Sprintf("generation %d had %s: from step %d on bits may differ from those of a run without the change", m.Generation-1, c.Was, next))
	case r.toldKernels == set:
		return
	}
	r.toldKernels = set
	if len(why) > 0 && !r.finished {
		r.emit(report.Decision{What: "kernels", Choice: set, Why: strings.Join(why, "; ")})
	}
}
