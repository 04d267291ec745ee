package launch

import (
	"fmt"
	"net"
	"strconv"
)

// torch reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and
// many others set them. Rank 0 serves the rendezvous on MASTER_PORT: nobody
// listens there when the ranks start. Where TORCHELASTIC_USE_AGENT_STORE says
// that torchrun itself does, it is one port higher.
func torch(e environment) (*claim, error) {
	set, missing := e.split("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
	if len(set) == 0 {
		return nil, nil
	}
	c := &claim{Place: Place{Source: "RANK/WORLD_SIZE"}}
	if len(missing) > 0 {
		c.lacks = halfSet(set, missing)
	}
	if !e.any("RANK") || !e.any("WORLD_SIZE") {
		return nil, c.lacks
	}
	if err := e.numbers(names4{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}, &c.Place); err != nil {
		return nil, err
	}
	if id := e.get("TORCHELASTIC_RUN_ID"); id != "none" { // torchrun's default, the same for every job
		c.JobID = id
	}
	if c.lacks != nil {
		return c, nil // good enough with --rendezvous, or for one rank
	}
	return c, c.findMaster(e)
}

func (c *claim) findMaster(e environment) error {
	host, port := e.get("MASTER_ADDR"), e.get("MASTER_PORT")
	if err := checkEndpoint(net.JoinHostPort(host, port)); err != nil {
		return fmt.Errorf("MASTER_ADDR is %q and MASTER_PORT is %q, want a host and a port of 1 to 65535", host, port)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("MASTER_PORT is %q, want a port of 1 to 65535", port)
	}
	if e.get("TORCHELASTIC_USE_AGENT_STORE") == "True" {
		if n++; n > 65535 {
			return fmt.Errorf("MASTER_PORT is %q, want at most 65534: with TORCHELASTIC_USE_AGENT_STORE=True ringtrain takes the next one", port)
		}
		if c.Rank == 0 && c.WorldSize > 1 {
			c.Notices = append(c.Notices, fmt.Sprintf(
				"TORCHELASTIC_USE_AGENT_STORE=True: torchrun holds port %s, so the rendezvous is at port %d", port, n))
		}
	}
	c.own = net.JoinHostPort(host, strconv.Itoa(n))
	return nil
}
