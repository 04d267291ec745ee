package place

import (
	"fmt"

	"ringtrain/ring/launch/internal/environ"
)

// noRunID is the run id of torchrun for a job without a name. torchRestarts counts the
// restarts by --max_restarts; each node counts its own. The name stays the same after
// a restart.
const (
	noRunID       = "none"
	torchRestarts = "TORCHELASTIC_RESTART_COUNT"
)

// torch reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and many other
// launchers set them. Rank 0 serves the rendezvous on MASTER_PORT, where no process listens
// when the ranks start. With TORCHELASTIC_USE_AGENT_STORE=True torchrun itself listens
// there, and the rendezvous is one port higher.
func torch(e environ.Vars) (*claim, error) {
	set, missing := e.Split("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
	if len(set) == 0 {
		return nil, nil
	}
	c := &claim{Place: Place{Source: "RANK/WORLD_SIZE"}}
	if len(missing) > 0 {
		c.missing = environ.Incomplete(set, missing)
	}
	if !e.Any("RANK") || !e.Any("WORLD_SIZE") {
		return nil, c.missing
	}
	if err := readNumbers(e, numberNames{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}, &c.Place); err != nil {
		return nil, err
	}
	if id := e.Get(environ.TorchRunID); id != noRunID {
		c.JobID = restartedRunID(e, id)
	}
	if c.missing != nil {
		return c, nil // complete with --rendezvous, or for one rank
	}
	return c, c.findMaster(e)
}

// findMaster stores the address of the rendezvous in c.
func (c *claim) findMaster(e environ.Vars) (err error) {
	higher := 0
	if e.Get("TORCHELASTIC_USE_AGENT_STORE") == "True" {
		higher = 1
	}
	if c.rendezvous, err = masterAddress(e, "MASTER_ADDR", "MASTER_PORT", higher); err != nil {
		return err
	}
	if higher > 0 && c.Rank == 0 && c.WorldSize > 1 {
		c.Notices = append(c.Notices, fmt.Sprintf("TORCHELASTIC_USE_AGENT_STORE=True: torchrun holds port %s, so the rendezvous is at %s",
			e.Get("MASTER_PORT"), c.rendezvous))
	}
	return nil
}

// restartedRunID appends the number of restarts by torchrun to the name of a job, so that
// leftovers of the ranks before do not pass as workers of this run. On several nodes the
// name stays as it is: the nodes' counts may differ.
func restartedRunID(e environ.Vars, id string) string {
	n := e.Get(torchRestarts)
	if id == "" || n == "" || n == "0" || e.Get("GROUP_WORLD_SIZE") != "1" {
		return id
	}
	return id + ".restart" + n
}
