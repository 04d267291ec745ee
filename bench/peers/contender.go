package peers

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringtrain/bench/child"
	"ringtrain/ring/ringtest/netns"
)

// Work is the work of all contenders in a round.
type Work struct {
	Ranks  int
	Sizes  []int         // of the buffers, in bytes
	Budget time.Duration // for the timed sums of a size
	Batch  int           // bytes of a batch, summed back to back
}

// A Topology describes where the ranks run: on this host, or PerHost ranks on each of
// several hosts.
type Topology struct {
	Hosts   []netns.Host
	PerHost int
}

// at returns the command line that runs argv on the host of a rank.
func (t Topology) at(rank int, argv []string) []string {
	if len(t.Hosts) == 0 {
		return argv
	}
	return t.Hosts[rank/t.PerHost].Command(argv...)
}

// addr returns the address of a rank's host. device returns the interface with that
// address.
func (t Topology) addr(rank int) string {
	if len(t.Hosts) == 0 {
		return "127.0.0.1"
	}
	return t.Hosts[rank/t.PerHost].Addr
}

func (t Topology) device() string {
	if len(t.Hosts) == 0 {
		return "lo"
	}
	return "eth0"
}

// A Sample is the median time of a size in one round.
type Sample struct {
	Way     string // variant of the contender
	Bytes   int
	Time    float64 // seconds
	Wrong   int
	Between int64 // bytes that left their host; ringtrain only
}

// A Contender is a library or program that does the work.
type Contender struct {
	Name    string
	setting string // distinguishes contenders of one name; the best one counts
	own     bool   // ringtrain itself: a failure fails the benchmark

	// prepare builds what the contender needs. Its error names the missing parts. It may
	// be nil.
	prepare func(ctx context.Context) error

	// processes returns the processes of one run. The first one prints the result.
	// folder is new and empty.
	processes func(w Work, p Topology, folder string) []child.Process

	// parse returns the samples of a line of the result, usually none or one.
	parse func(w Work, line string) []Sample
}

// ready calls prepare.
func (c Contender) ready(ctx context.Context) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx)
}

// run does the work once.
func (c Contender) run(ctx context.Context, w Work, p Topology, folder string) ([]Sample, error) {
	var out bytes.Buffer
	processes := c.processes(w, p, folder)
	processes[0].Stdout = &out
	if err := child.Run(ctx, processes); err != nil {
		return nil, err
	}
	var samples []Sample
	seen := map[int]bool{}
	for line := range strings.Lines(out.String()) {
		for _, s := range c.parse(w, line) {
			if s.Wrong > 0 {
				return nil, fmt.Errorf("%s sums wrongly: %d elements of %d bytes", s.Way, s.Wrong, s.Bytes)
			}
			samples, seen[s.Bytes] = append(samples, s), true
		}
	}
	if len(seen) != len(w.Sizes) {
		return nil, fmt.Errorf("printed the times of %d sizes, want %d", len(seen), len(w.Sizes))
	}
	return samples, nil
}

// parseLine parses a driver's line "variant bytes microseconds wrong".
func parseLine(_ Work, line string) []Sample {
	words := strings.Fields(line)
	if len(words) != 4 {
		return nil
	}
	n, err1 := strconv.Atoi(words[1])
	micros, err2 := strconv.ParseFloat(words[2], 64)
	wrong, err3 := strconv.Atoi(words[3])
	if err1 != nil || err2 != nil || err3 != nil || !(micros > 0) {
		return nil
	}
	return []Sample{{Way: words[0], Bytes: n, Time: micros / 1e6, Wrong: wrong}}
}

// driverArgs returns the last arguments of every driver.
func (w Work) driverArgs() []string {
	args := []string{strconv.FormatInt(max(w.Budget.Milliseconds(), 1), 10), strconv.Itoa(w.Batch)}
	for _, n := range w.Sizes {
		args = append(args, strconv.Itoa(n))
	}
	return args
}

// eachRank returns one process per rank with the arguments of drivers for libraries
// without a launcher.
func eachRank(w Work, p Topology, folder string, program []string, env ...string) []child.Process {
	var processes []child.Process
	for rank := range w.Ranks {
		argv := append(program[:len(program):len(program)], strconv.Itoa(rank), strconv.Itoa(w.Ranks), folder, p.addr(rank))
		processes = append(processes, child.Process{Argv: p.at(rank, append(argv, w.driverArgs()...)), Env: env})
	}
	return processes
}
