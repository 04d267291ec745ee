package peers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ringtrain/bench/child"
	"ringtrain/ring/cores"
	"ringtrain/ring/ringtest/netns"
)

const (
	mpiMemory = "openmpi shm"
	mpiTCP    = "openmpi tcp"
)

// A setting is a variant of Open MPI.
type setting struct {
	name    string
	options string
	most    int // maximum ranks per core, beyond which a run takes minutes; 0: any number
}

// fixed returns the options that force one algorithm for all sizes.
func fixed(algorithm int) string {
	return fmt.Sprintf("--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm %d", algorithm)
}

// memorySettings returns the settings that are the best on one host for some size: its
// own choice, Rabenseifner's algorithm, the spinning shared-memory component, and its
// own choice with ranks bound to cores.
func memorySettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,vader "
	return []setting{
		{name: "own choice", options: transport},
		{name: "rabenseifner", options: transport + fixed(6)},
		{name: "sm", options: transport + "--mca coll_sm_priority 90", most: 1},
		{name: "bound", options: transport + "--map-by core --bind-to core:overload-allowed"},
	}
}

// tcpSettings returns the settings over TCP: its own choice, the segmented ring, and its
// own choice with ranks bound to cores.
func tcpSettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,tcp "
	return []setting{
		{name: "own choice", options: transport},
		{name: "ring", options: transport + fixed(4)},
		{name: "bound", options: transport + "--map-by core --bind-to core:overload-allowed"},
	}
}

// hostSettings returns the first two TCP settings, with shared memory within a host.
func hostSettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include " + netns.Network +
		" --mca oob_tcp_if_include " + netns.Network + " "
	return []setting{
		{name: "own choice", options: transport},
		{name: "ring", options: transport + fixed(4)},
	}
}

// mpiContenders returns one contender per setting. They share a name, so the best one
// counts.
func mpiContenders(name string, settings []setting, cores, ranks int) []Contender {
	d := driver{
		source: "openmpi.c", compile: []string{"mpicc", "-O3", "-march=native"}, needs: "openmpi-bin libopenmpi-dev",
	}
	var all []Contender
	for _, s := range settings {
		if s.most > 0 && ranks > s.most*cores {
			continue
		}
		var program string
		all = append(all, Contender{
			Name: name, setting: s.name,
			prepare: func(ctx context.Context) (err error) {
				if err = cmp.Or(missing("mpirun", d.needs), missing("mpicc", d.needs)); err != nil {
					return err
				}
				program, err = d.built(ctx)
				return err
			},
			processes: func(w Work, p Topology, folder string) []child.Process {
				return []child.Process{mpirun(w, p, folder, append(strings.Fields(s.options), program))}
			},
			parse: func(w Work, line string) []Sample {
				samples := parseLine(w, line)
				for i := range samples {
					samples[i].Way = s.name
				}
				return samples
			},
		})
	}
	return all
}

// mpirun returns the launcher's process. It binds ranks to cores if there are enough
// cores. With several hosts it runs on the first.
func mpirun(w Work, p Topology, folder string, words []string) child.Process {
	argv := []string{"mpirun", "--allow-run-as-root", "--oversubscribe", "-np", strconv.Itoa(w.Ranks)}
	if w.Ranks > cores.Own() {
		argv = append(argv, "--mca", "mpi_yield_when_idle", "1") // mpirun does not know that the hosts share cores
	}
	if len(p.Hosts) > 0 {
		argv = append(argv, "--bind-to", "none", "--host", hostList(p), "--mca", "plm_rsh_agent", agentPath(folder))
		if err := writeAgent(p, folder); err != nil {
			argv = []string{"sh", "-c", "echo " + strconv.Quote(err.Error()) + " >&2; exit 73"}
		}
	}
	return child.Process{Argv: p.at(0, append(append(argv, words...), w.driverArgs()...)), Env: []string{"TMPDIR=" + folder}}
}

func hostList(p Topology) string {
	var words []string
	for _, h := range p.Hosts {
		words = append(words, fmt.Sprintf("%s:%d", h.Addr, p.PerHost))
	}
	return strings.Join(words, ",")
}

func agentPath(folder string) string { return filepath.Join(folder, "agent.sh") }

// writeAgent writes mpirun's replacement for ssh: a program that runs a command on a
// host. Each host gets its own host name, because Open MPI identifies hosts by name.
func writeAgent(p Topology, folder string) error {
	var script strings.Builder
	script.WriteString("#!/bin/sh\nhost=$1; shift\ncase $host in\n")
	for i, h := range p.Hosts {
		enter := strings.Join(h.Command("unshare", "--uts", "sh", "-c", fmt.Sprintf(`'hostname host%d; exec sh -c "$0"' "$*"`, i)), " ")
		fmt.Fprintf(&script, "%s) exec %s ;;\n", h.Addr, enter)
	}
	script.WriteString("*) echo \"no host $host\" >&2; exit 1 ;;\nesac\n")
	return os.WriteFile(agentPath(folder), []byte(script.String()), 0o700)
}
