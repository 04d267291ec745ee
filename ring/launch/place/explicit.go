package place

import (
	"errors"
	"fmt"

	"ringtrain/ring/launch/internal/environ"
)

// UnderRun is the Source of a place that `ringtrain run` has set.
const UnderRun = "ringtrain run"

// explicitPlace is what a person or `ringtrain run` gives, by flags or by RINGTRAIN_*
// variables. Flags win.
type explicitPlace struct {
	rank, size                int // -1, 0: none
	rendezvous, listen, jobID string
	hostID                    string // "": none
	source                    string // of the rank, or of the size without a rank
	rankName, sizeName        string // the flag or variable that was used, for errors
}

// findExplicitPlace reads the flags and the RINGTRAIN_* variables.
func findExplicitPlace(e environ.Vars, f Flags) (explicitPlace, error) {
	g := explicitPlace{rank: f.Rank, size: f.WorldSize, rankName: "--rank", sizeName: "--world-size", source: "--rank",
		rendezvous: f.Rendezvous, listen: f.Listen, jobID: f.JobID, hostID: f.HostID}
	if g.rank < -1 {
		return g, fmt.Errorf("--rank is %d, want 0 or more", g.rank)
	}
	if g.size < 0 {
		return g, fmt.Errorf("--world-size is %d, want 1 or more", g.size)
	}
	var err error
	if g.rank < 0 {
		g.rankName, g.source = "RINGTRAIN_RANK", UnderRun
		if g.rank, err = e.Int(g.rankName, 0, -1); err != nil {
			return g, err
		}
	}
	if g.size == 0 {
		g.sizeName = "RINGTRAIN_WORLD_SIZE"
		if g.size, err = e.Int(g.sizeName, 1, 0); err != nil {
			return g, err
		}
	}
	if g.jobID == "" {
		g.jobID = e.Get("RINGTRAIN_JOB_ID")
	}
	if err := g.findHostID(e); err != nil {
		return g, err
	}
	return g, g.findRendezvous(e)
}

// findRendezvous reads and checks the address of the rendezvous.
func (p *explicitPlace) findRendezvous(e environ.Vars) error {
	name := "--rendezvous"
	if p.rendezvous == "" {
		name = "RINGTRAIN_RENDEZVOUS"
		p.rendezvous = e.Get(name)
	}
	if p.rendezvous == "" {
		return nil
	}
	if err := CheckRemoved(p.rendezvous); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := checkEndpoint(p.rendezvous); err != nil {
		return fmt.Errorf("%s is %q, want %w", name, p.rendezvous, err)
	}
	return nil
}

// claim returns the claim of a worker with an explicit rank.
func (p explicitPlace) claim(e environ.Vars) (claim, error) {
	if p.size == 0 {
		return claim{}, environ.Incomplete([]string{p.rankName}, []string{"RINGTRAIN_WORLD_SIZE (or --world-size)"})
	}
	if p.rank >= p.size {
		return claim{}, fmt.Errorf("%s is %d, want 0 to %d: %s is %d", p.rankName, p.rank, p.size-1, p.sizeName, p.size)
	}
	c := claim{
		Place:   Place{Rank: p.rank, WorldSize: p.size, Source: p.source},
		missing: environ.Incomplete([]string{p.rankName, p.sizeName}, []string{"RINGTRAIN_RENDEZVOUS (or --rendezvous)"}),
	}
	local := numberNames{localRank: "RINGTRAIN_LOCAL_RANK", localSize: "RINGTRAIN_LOCAL_SIZE"}
	return c, readLocalNumbers(e, local, &c.Place)
}

// sizeClaims returns the claim of an explicit world size without a rank, or no claim.
func (p explicitPlace) sizeClaims() []claim {
	if p.size == 0 {
		return nil
	}
	return []claim{{Place: Place{Rank: -1, WorldSize: p.size, LocalRank: -1, Source: p.sizeName}}}
}

// claimWithoutDialect returns the claim of a worker in an environment without any dialect.
// Without a world size and a rendezvous the job has one worker.
func (p explicitPlace) claimWithoutDialect() (claim, error) {
	if c := p.sizeClaims(); c != nil {
		c[0].missing = fmt.Errorf("%s is %d, the rendezvous is missing: add --rendezvous HOST:PORT", p.sizeName, p.size)
		return c[0], nil
	}
	if p.rendezvous != "" {
		return claim{}, errors.New("a rendezvous is given, the world size is missing: add --world-size N, or unset RINGTRAIN_RENDEZVOUS")
	}
	return claim{Place: Place{WorldSize: 1}}, nil
}
