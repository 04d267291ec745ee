package peers

import (
	"context"
	"errors"
	"os/exec"
)

const pytorch = "pytorch"

// pytorchContender is torch.distributed with the backend gloo, of the first
// Python that has it: Debian's own may not be the first in PATH.
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
		crew: func(w Work, p Place, folder string) []process {
			return eachRank(w, p, folder, program, "GLOO_SOCKET_IFNAME="+p.device(), "OMP_NUM_THREADS=1")
		},
		parse: parseLine,
	}
}
