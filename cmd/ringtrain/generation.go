package main

import (
	"fmt"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/join"
)

// generation is the event of a generation that follows another one.
type generation struct {
	Generation uint64 `json:"generation"`
	WorldSize  int    `json:"world_size"`
	Lost       []int  `json:"lost"`
	Cause      string `json:"cause"`
}

// Kind names the event.
func (generation) Kind() string { return "generation" }

func generationEvent(m ring.Membership, lost []int, cause *ring.Cause) generation {
	e := generation{Generation: m.Generation, WorldSize: m.Size(), Lost: lost}
	if lost == nil {
		e.Lost = []int{}
	}
	if cause != nil {
		e.Cause = cause.Error()
	}
	return e
}

// String returns the event as a sentence.
func (e generation) String() string {
	who := "nobody was lost"
	if len(e.Lost) > 0 {
		who = "after the loss of rank " + strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Lost), " ", ", "), "[]")
	}
	return fmt.Sprintf("generation %d of %d workers goes on, %s: %s", e.Generation, e.WorldSize, who, e.Cause)
}

// generation reports on rank 0 that team continues after an earlier generation. quiet does not
// leave the line out: the loss of a rank is a warning.
func (r *reporter) generation(team *join.Team) {
	m := team.Group.Membership()
	if m.Rank != 0 || m.Generation < 2 {
		return
	}
	e := generationEvent(m, team.Lost, team.Cause)
	r.writeJSON(e)
	fmt.Fprintln(r.people, e)
}
