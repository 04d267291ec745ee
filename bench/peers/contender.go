package peers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// Work is what all contenders do in a round.
type Work struct {
	Ranks  int
	Sizes  []int         // of the buffers, in bytes
	Budget time.Duration // for the timed sums of a size
	Batch  int           // bytes that are summed back to back
}

// A Place is where ranks run: on this host, or so many on each of some hosts.
type Place struct {
	Hosts   []netns.Host
	PerHost int
}

// at returns the command line that runs argv where rank is.
func (p Place) at(rank int, argv []string) []string {
	if len(p.Hosts) == 0 {
		return argv
	}
	return p.Hosts[rank/p.PerHost].Command(argv...)
}

// addr is the address of a rank's host, and device the interface that has it.
func (p Place) addr(rank int) string {
	if len(p.Hosts) == 0 {
		return "127.0.0.1"
	}
	return p.Hosts[rank/p.PerHost].Addr
}

func (p Place) device() string {
	if len(p.Hosts) == 0 {
		return "lo"
	}
	return "eth0"
}

// A Sample is the median time of a size in one round.
type Sample struct {
	Way     string // that it was done
	Bytes   int
	Time    float64 // seconds
	Wrong   int
	Between int64 // bytes that left their host, of ringtrain
}

// A Contender does the work.
type Contender struct {
	Name    string
	setting string // of several of one name, of which the best counts
	own     bool   // it is ringtrain, whose failure is one of the bench

	// prepare makes what the contender needs; its error says what is missing. It
	// may be nil.
	prepare func(ctx context.Context) error

	// crew returns the processes of one run, of which the first prints the
	// result. folder is fresh and empty.
	crew func(w Work, p Place, folder string) []process

	// parse reads a line of the result, which is nothing, mostly one sample, or
	// more.
	parse func(w Work, line string) []Sample
}

// ready makes what the contender needs.
func (c Contender) ready(ctx context.Context) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx)
}

// run does the work once.
func (c Contender) run(ctx context.Context, w Work, p Place, folder string) ([]Sample, error) {
	out, err := runCrew(ctx, c.crew(w, p, folder))
	if err != nil {
		return nil, err
	}
	var samples []Sample
	seen := map[int]bool{}
	for line := range strings.Lines(out) {
		for _, s := range c.parse(w, line) {
			if s.Wrong > 0 {
				return nil, fmt.Errorf("%s sums wrongly: %d elements of %d bytes", s.Way, s.Wrong, s.Bytes)
			}
			samples, seen[s.Bytes] = append(samples, s), true
		}
	}
	if len(seen) != len(w.Sizes) {
		return nil, fmt.Errorf("told the times of %d sizes, want %d", len(seen), len(w.Sizes))
	}
	return samples, nil
}

// parseLine reads "way bytes microseconds wrong", which drivers print.
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

// driverArgs are the words at the end of each driver's command line.
func (w Work) driverArgs() []string {
	args := []string{strconv.FormatInt(max(w.Budget.Milliseconds(), 1), 10), strconv.Itoa(w.Batch)}
	for _, n := range w.Sizes {
		args = append(args, strconv.Itoa(n))
	}
	return args
}

// eachRank is a crew of one process a rank, with the words that the drivers of
// libraries without a launcher take.
func eachRank(w Work, p Place, folder string, program []string, env ...string) []process {
	var crew []process
	for rank := range w.Ranks {
		argv := append(program[:len(program):len(program)], strconv.Itoa(rank), strconv.Itoa(w.Ranks), folder, p.addr(rank))
		crew = append(crew, process{p.at(rank, append(argv, w.driverArgs()...)), env})
	}
	return crew
}
