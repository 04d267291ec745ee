package peers

import (
	"context"
	"errors"
	"os/exec"

	"ringtrain/bench/child"
)

const pytorch = "pytorch"

// pytorchContender returns torch.distributed with the backend gloo. It uses the first
// Python that has it, because Debian's Python may not be the first in PATH.
func pytorchContender() Contender {
	var program []string
	return Contender{
		Name: pytorch,
		prepare: func(ctx context.Context) error {
			script, err := driver{source: "pytorch.py"}.built(ctx)
			if err != nil {
				return err
			}
			for _, python := range []string{"python3", "/usr/bin/python3"} {
				if exec.CommandContext(ctx, python, "-c", "import torch.distributed as d; d.ProcessGroupGloo").Run() == nil {
					program = []string{python, script}
					return nil
				}
			}
			return errors.New("no Python with torch; want: apt-get install python3-torch")
		},
		processes: func(w Work, p Topology, folder string) []child.Process {
			return eachRank(w, p, folder, program, "GLOO_SOCKET_IFNAME="+p.device(), "OMP_NUM_THREADS=1")
		},
		parse: parseLine,
	}
}
