package state

import (
	"bytes"
	"cmp"
	"slices"

	"ringtrain/ring"
)

// Record is what a worker knows of its job. The workers hold the truth: a rendezvous keeps nothing
// on a disk, and one that starts anew learns all of it from the records of its workers.
type Record struct {
	JobID    string
	Fence    ring.Fence    // of the newest generation that the worker has taken; its Generation is 0 before
	Workers  []ring.Worker // of that generation, by rank
	Choices  []ring.Choice // likewise
	Agreed   Agreed        // what all workers of the job have in common
	Loop     CrashLoop     // generations before it that completed no step
	Restarts int           // lost workers that may be replaced in all
	Used     int           // of these, when the generation began

	Whole Roster   // the newest generation whose first collective operation has ended
	Taken []Roster // generations taken after it, in order
	Dead  []uint64 // incarnations of Whole and Taken whose processes are known to have ended

	Ended bool        // the generation has ended
	Lost  []uint64    // incarnations that are lost since it began
	Cause *ring.Cause // first cause since the last completed step; nil: none

	Step int64 // last completed step of the worker, -1 before training
	Stop int   // exit code with which all workers stop; 0: they go on
}

// Agreed is what must be equal on all workers of a job.
type Agreed struct {
	WorldSize int
	Protocol  int
	Version   string
	Lines     []string
}

// Roster is the list of processes that form a generation.
type Roster struct {
	Fence        ring.Fence
	Incarnations []uint64 // by rank
}

// Newer reports whether the generation of a was formed after that of b. Of two generations with
// one number, that of the greater rendezvous counts.
func Newer(a, b ring.Fence) bool { return compareFences(a, b) > 0 }

func compareFences(a, b ring.Fence) int {
	return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Issuer, b.Issuer), bytes.Compare(a.Life[:], b.Life[:]))
}

// Merge returns what r and o say together about one life. The order and the number of the records
// that are merged do not matter.
func (r Record) Merge(o Record) Record {
	m := r
	if Newer(o.Fence, r.Fence) {
		m = o
	}
	if r.Fence == o.Fence {
		m.Ended, m.Lost, m.Cause = r.Ended || o.Ended, union(r.Lost, o.Lost), firstOf(r.Cause, o.Cause)
	}
	m.Whole, m.Taken = mergeRosters(r, o)
	m.Dead = m.ofRosters(union(r.Dead, o.Dead))
	m.Step, m.Stop = max(r.Step, o.Step), max(r.Stop, o.Stop)
	return m
}

// firstOf returns one of two causes of one generation, whichever comes first.
func firstOf(a, b *ring.Cause) *ring.Cause {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ExitCode, b.ExitCode)) <= 0:
		return a
	}
	return b
}

// mergeRosters returns the greatest whole generation of two records, and all that were taken after
// it.
func mergeRosters(r, o Record) (whole Roster, taken []Roster) {
	whole = r.Whole
	if Newer(o.Whole.Fence, whole.Fence) {
		whole = o.Whole
	}
	for _, t := range slices.Concat(r.Taken, o.Taken) {
		if Newer(t.Fence, whole.Fence) && !slices.ContainsFunc(taken, func(k Roster) bool { return k.Fence == t.Fence }) {
			taken = append(taken, t)
		}
	}
	slices.SortFunc(taken, func(a, b Roster) int { return compareFences(a.Fence, b.Fence) })
	return whole, taken
}

// take notes that the generation of r has been taken.
func (r *Record) take() {
	r.Taken = append(slices.Clip(r.Taken), r.roster())
	r.Dead = r.ofRosters(r.Dead)
}

// Complete notes that the first collective operation of the generation has ended: all its members
// have taken it.
func (r *Record) Complete() {
	r.Whole, r.Taken = r.roster(), nil
	r.Dead = r.ofRosters(r.Dead)
}

func (r *Record) roster() Roster {
	t := Roster{Fence: r.Fence}
	for _, w := range r.Workers {
		t.Incarnations = append(t.Incarnations, w.Incarnation)
	}
	return t
}

// rosters returns the generations of which a new one needs a quorum.
func (r *Record) rosters() []Roster {
	if r.Whole.Incarnations == nil {
		return r.Taken
	}
	return append([]Roster{r.Whole}, r.Taken...)
}

// ofRosters returns those of a sorted list of incarnations that any roster of r has.
func (r *Record) ofRosters(list []uint64) []uint64 {
	var kept []uint64
	for _, id := range list {
		if slices.ContainsFunc(r.rosters(), func(t Roster) bool { return slices.Contains(t.Incarnations, id) }) {
			kept = append(kept, id)
		}
	}
	return kept
}

// Membership returns the generation of r as the worker with a rank sees it.
func (r *Record) Membership(rank int) ring.Membership {
	f := r.Fence
	return ring.Membership{JobID: r.JobID, Life: f.Life, Generation: f.Generation, Issuer: f.Issuer, Rank: rank, Workers: r.Workers, Choices: r.Choices}
}

// RestartsLeft returns how many more losses the job survives.
func (r *Record) RestartsLeft() int { return max(r.Restarts-r.used(), 0) }

// lose notes that process id is lost. dead says that it is known to have ended.
func (r *Record) lose(id uint64, dead bool) {
	r.Lost = union(r.Lost, []uint64{id})
	if dead {
		r.Dead = r.ofRosters(union(r.Dead, []uint64{id}))
	}
}

// dead reports whether process id is known to have ended.
func (r *Record) dead(id uint64) bool { return slices.Contains(r.Dead, id) }

// quorum reports whether the given processes are a quorum of each generation that may be the newest
// one somewhere: more than half of the members that are not known to have ended, or half of them
// with the lowest rank. Two quorums of one generation share a process, and a process is in one
// generation at a time, so no two generations go on side by side. (Dynamic voting: Jajodia and
// Mutchler, TODS 1990; with taken generations: Lotem, Keidar, Dolev, PODC 1997.)
func (r *Record) quorum(here func(id uint64) bool) bool {
	for _, t := range r.rosters() {
		living, present, lowest := 0, 0, false
		for _, id := range t.Incarnations {
			if r.dead(id) {
				continue
			}
			living++
			if here(id) {
				present++
				lowest = lowest || living == 1
			}
		}
		if 2*present < living || 2*present == living && living > 0 && !lowest {
			return false
		}
	}
	return true
}

// allDead reports whether all processes that may have the state are known to have ended.
func (r *Record) allDead() bool {
	for _, t := range r.rosters() {
		if slices.ContainsFunc(t.Incarnations, func(id uint64) bool { return !r.dead(id) }) {
			return false
		}
	}
	return true
}

// used returns the number of restarts that are used up. A loss counts once, whoever notices it.
func (r *Record) used() int { return r.Used + len(r.Lost) }

// lostRanks returns the lost ranks, ascending.
func (r *Record) lostRanks() []int {
	var ranks []int
	for _, w := range r.Workers {
		if slices.Contains(r.Lost, w.Incarnation) {
			ranks = append(ranks, w.Rank)
		}
	}
	return ranks
}

// worker returns the worker of r with an incarnation, or nil.
func (r *Record) worker(id uint64) *ring.Worker {
	i := slices.IndexFunc(r.Workers, func(w ring.Worker) bool { return w.Incarnation == id })
	if i < 0 {
		return nil
	}
	return &r.Workers[i]
}

// union returns the sorted union of two sorted lists.
func union(a, b []uint64) []uint64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
