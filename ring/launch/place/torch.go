package place

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
	"ringtrain/ring/phrase"
)

// noRunID is the run id of torchrun for a job without a name. torchRestarts counts the
// restarts by --max_restarts; each node counts its own. The name stays the same after
// a restart.
const (
	noRunID       = "none"
	torchRestarts = "TORCHELASTIC_RESTART_COUNT"
)

// torchMaster stores the address of the rendezvous in c, as torchrun and many other launchers
// set it. Rank 0 serves the rendezvous on MASTER_PORT, where no process listens when the ranks
// start. With TORCHELASTIC_USE_AGENT_STORE=True torchrun itself listens there, and the
// rendezvous is one port higher.
func torchMaster(e environ.Vars, _ explicitPlace, c *claim) (err error) {
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

// torchJob returns the name of a job of torchrun with the number of restarts, so that
// leftovers of the ranks before do not pass as workers of this run. On several nodes the
// name stays as it is: the nodes' counts may differ.
func torchJob(e environ.Vars) string {
	id, n := e.Get(environ.TorchRunID), e.Get(torchRestarts)
	if id == noRunID {
		return ""
	}
	if id == "" || n == "" || n == "0" || e.Get("GROUP_WORLD_SIZE") != "1" {
		return id
	}
	return id + ".restart" + n
}

var errTorchrun = errors.New("start the ranks by torchrun, whose options PET_* are: torchrun --no_python ringtrain train JOB")

// torchrunApplies reads the options that torchrun takes from PET_* variables, as Kubeflow's
// trainer sets them. They describe a node. A container without torchrun is one rank, unless
// several are asked for. Its master is rank 0, which serves the rendezvous. All else needs
// torchrun itself. Processes that torchrun starts inherit the variables of their node and
// have their own besides.
func torchrunApplies(e environ.Vars) (bool, error) {
	found := e.WithPrefix("PET_")
	if len(found) == 0 || e.Any(environ.TorchRunID) {
		return false, nil
	}
	if n := e.Get("PET_NPROC_PER_NODE"); n != "" && n != "auto" && n != "1" {
		return false, fmt.Errorf("PET_NPROC_PER_NODE is %q, want 1 (numProcPerNode: 1), for ringtrain is the only process of its container; "+
			"for several ranks in one, %w", n, errTorchrun)
	}
	if e.Any("RANK") {
		return false, nil // the torch dialect gives the same
	}
	set, missing := e.Split("PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
	switch {
	case len(set) == 0:
		return false, fmt.Errorf("%s set: %w", phrase.Are(found), errTorchrun)
	case !e.Any("PET_NNODES") || !e.Any("PET_NODE_RANK"):
		return false, fmt.Errorf("%w; %w", environ.Incomplete(set, missing), errTorchrun)
	}
	if _, err := e.Int("PET_NNODES", 1, 0); err != nil {
		return false, fmt.Errorf("%w; %w", err, errTorchrun) // such as 1:4, a range of nodes
	}
	return true, nil
}

func torchrunMaster(e environ.Vars, _ explicitPlace, c *claim) (err error) {
	c.rendezvous, err = masterAddress(e, "PET_MASTER_ADDR", "PET_MASTER_PORT", 0)
	return err
}

// masterAddress returns the rendezvous at the host and the port in the variables addr and
// port. It adds higher to the port.
func masterAddress(e environ.Vars, addr, port string, higher int) (string, error) {
	host, number := e.Get(addr), e.Get(port)
	n, err := strconv.Atoi(number)
	if err != nil || checkEndpoint(net.JoinHostPort(host, number)) != nil {
		return "", fmt.Errorf("%s is %q and %s is %q, want a host and a port of 1 to 65535", addr, host, port, number)
	}
	if n += higher; n > 65535 {
		return "", fmt.Errorf("%s is %q, want at most %d: with TORCHELASTIC_USE_AGENT_STORE=True ringtrain takes the next one", port, number, 65535-higher)
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), nil
}
