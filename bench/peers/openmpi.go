package peers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ringtrain/ring/cores"
	"ringtrain/ring/ringtest/netns"
)

const (
	mpiMemory = "openmpi shm"
	mpiTCP    = "openmpi tcp"
)

// A setting of Open MPI, which is one of its ways.
type setting struct {
	name    string
	options string
	most    int // ranks for each core; more would take minutes; 0: any number
}

// fixed are the options that make Open MPI take one algorithm for all sizes.
func fixed(algorithm int) string {
	return fmt.Sprintf("--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm %d", algorithm)
}

// memorySettings are those that served it best on one host at some size: its
// own choice, Rabenseifner's algorithm, the component for shared memory, which
// spins, and its own choice with ranks bound to cores.
func memorySettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,vader "
	return []setting{
		{name: "own choice", options: transport},
		{name: "rabenseifner", options: transport + fixed(6)},
		{name: "sm", options: transport + "--mca coll_sm_priority 90", most: 1},
		{name: "bound", options: transport + "--map-by core --bind-to core:overload-allowed"},
	}
}

// tcpSettings are its own choice, the segmented ring, and its own choice with ranks
// bound to cores.
func tcpSettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,tcp "
	return []setting{
		{name: "own choice", options: transport},
		{name: "ring", options: transport + fixed(4)},
		{name: "bound", options: transport + "--map-by core --bind-to core:overload-allowed"},
	}
}

// hostSettings are the first two of those between hosts, with shared memory within one.
func hostSettings() []setting {
	const transport = "--mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include " + netns.Network +
		" --mca oob_tcp_if_include " + netns.Network + " "
	return []setting{
		{name: "own choice", options: transport},
		{name: "ring", options: transport + fixed(4)},
	}
}

// mpiContenders make one contender of each setting; they share a name, so that
// the best counts.
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
			crew: func(w Work, p Place, folder string) []process {
				return []process{mpirun(w, p, folder, append(strings.Fields(s.options), program))}
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

// mpirun is the launcher's command line; it binds ranks to cores where each can
// have one. On hosts it runs on the first.
func mpirun(w Work, p Place, folder string, words []string) process {
	argv := []string{"mpirun", "--allow-run-as-root", "--oversubscribe", "-np", strconv.Itoa(w.Ranks)}
	if w.Ranks > cores.Own() {
		argv = append(argv, "--mca", "mpi_yield_when_idle", "1") // it cannot see that hosts share cores
	}
	if len(p.Hosts) > 0 {
		argv = append(argv, "--bind-to", "none", "--host", hostList(p), "--mca", "plm_rsh_agent", agentPath(folder))
		if err := writeAgent(p, folder); err != nil {
			argv = []string{"sh", "-c", "echo " + strconv.Quote(err.Error()) + " >&2; exit 73"}
		}
	}
	return process{p.at(0, append(append(argv, words...), w.driverArgs()...)), []string{"TMPDIR=" + folder}}
}

func hostList(p Place) string {
	var words []string
	for _, h := range p.Hosts {
		words = append(words, fmt.Sprintf("%s:%d", h.Addr, p.PerHost))
	}
	return strings.Join(words, ",")
}

func agentPath(folder string) string { return filepath.Join(folder, "agent.sh") }

// writeAgent writes what mpirun takes for ssh: a program that runs a command on
// a host. Each host gets a name of its own, by which Open MPI tells them apart.
func writeAgent(p Place, folder string) error {
	var script strings.Builder
	script.WriteString("#!/bin/sh\nhost=$1; shift\ncase $host in\n")
	for i, h := range p.Hosts {
		enter := strings.Join(h.Command("unshare", "--uts", "sh", "-c", fmt.Sprintf(`'hostname host%d; exec sh -c "$0"' "$*"`, i)), " ")
		fmt.Fprintf(&script, "%s) exec %s ;;\n", h.Addr, enter)
	}
	script.WriteString("*) echo \"no host $host\" >&2; exit 1 ;;\nesac\n")
	return os.WriteFile(agentPath(folder), []byte(script.String()), 0o700)
}
