package join

import (
	"fmt"

	"ringtrain/ring"
)

// noticeRank0 tells people, on rank 0 alone, a line that concerns the whole job.
func (c Config) noticeRank0(m ring.Membership, line string) {
	if m.Rank == 0 && c.Notice != nil {
		c.Notice(line)
	}
}

// noticeClear tells people once that links between hosts are in clear.
func (c Config) noticeClear(m ring.Membership) {
	if c.Security == "auth" && m.Hosts() > 1 && m.Generation == 1 {
		c.noticeRank0(m, "security auth: gradients travel in clear between hosts, and who is on the path can choose the model")
	}
}

// noticeUnused tells people which options of c concern links that g does not have.
func (c Config) noticeUnused(g *ring.Group) {
	m := g.Membership()
	inMemory := g.Levels() == "host"
	tell := func(option string, value any) {
		c.noticeRank0(m, fmt.Sprintf("%s %v is not used: on one host gradients stay in memory, unless allreduce.levels is flat", option, value))
	}
	if inMemory && c.Link != "auto" && c.Link != "shm" && c.Link != "" {
		tell("link", c.Link)
	}
	if inMemory && c.Group.Lossless != nil {
		tell("lossless", c.Group.Lossless)
	}
	if inMemory && c.Group.Algorithm.String() != "auto" {
		tell("algorithm", c.Group.Algorithm)
	}
}
