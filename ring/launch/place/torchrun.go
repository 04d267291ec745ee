package place

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"ringtrain/ring/launch/internal/environ"
	"ringtrain/ring/phrase"
)

var errTorchrun = errors.New("start the ranks by torchrun, whose options PET_* are: torchrun --no_python ringtrain train JOB")

// torchrun reads the options that torchrun takes from PET_* variables, as Kubeflow's
// trainer sets them. They describe a node. A container without torchrun is one rank, unless
// several are asked for. Its master is rank 0, which serves the rendezvous. All else needs
// torchrun itself. Processes that torchrun starts inherit the variables of their node and
// have their own besides.
func torchrun(e environ.Vars) (*claim, error) {
	found := e.WithPrefix("PET_")
	if len(found) == 0 || e.Any(environ.TorchRunID) {
		return nil, nil
	}
	if n := e.Get("PET_NPROC_PER_NODE"); n != "" && n != "auto" && n != "1" {
		return nil, fmt.Errorf("PET_NPROC_PER_NODE is %q, want 1 (numProcPerNode: 1), for ringtrain is the only process of its container; "+
			"for several ranks in one, %w", n, errTorchrun)
	}
	if e.Any("RANK") {
		return nil, nil // the torch dialect gives the same
	}
	set, missing := e.Split("PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
	switch {
	case len(set) == 0:
		return nil, fmt.Errorf("%s set: %w", phrase.Are(found), errTorchrun)
	case !e.Any("PET_NNODES") || !e.Any("PET_NODE_RANK"):
		return nil, fmt.Errorf("%w; %w", environ.Incomplete(set, missing), errTorchrun)
	}
	c := &claim{Place: Place{Source: "PET_*"}}
	if err := readNumbers(e, numberNames{rank: "PET_NODE_RANK", size: "PET_NNODES"}, &c.Place); err != nil {
		return nil, fmt.Errorf("%w; %w", err, errTorchrun) // such as 1:4, a range of nodes
	}
	if len(missing) > 0 {
		c.missing = environ.Incomplete(set, missing)
		return c, nil
	}
	var err error
	c.rendezvous, err = masterAddress(e, "PET_MASTER_ADDR", "PET_MASTER_PORT", 0)
	return c, err
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
