package peers

import (
	"context"
	"fmt"
	"time"

	"ringtrain/bench"
)

// Tune configures a search for the best algorithms.
type Tune struct {
	Ranks        int
	Sizes        []int  // in bytes
	Levels, Link string // options of bench allreduce
	Bind         string // option of bench allreduce
	Rounds       int
}

// Crossover is the result of Runner.Tune.
type Crossover struct {
	Ranks     int    `json:"ranks"`
	Algorithm string `json:"algorithm"` // in the syntax of allreduce.algorithm
}

// Kind names the event.
func (Crossover) Kind() string { return "tune" }

// tuneBudget is the time for a size, an algorithm and a round.
const tuneBudget = 60 * time.Millisecond

// Tune measures each algorithm at each size in interleaved rounds. It prints the times
// and the table of the best algorithms by size. If an algorithm fails, it prints no
// table and returns exitcode.Failed.
func (r *Runner) Tune(ctx context.Context, t Tune) error {
	w := Work{Ranks: t.Ranks, Sizes: t.Sizes, Budget: tuneBudget, Batch: 16 * mib}
	s := suite{title: "algorithms"}
	var all []Contender
	for _, name := range bench.Ladder() {
		all = append(all, ringtrain(name, r.Program, "--algorithm="+name, "--levels="+t.Levels, "--link="+t.Link, "--bind-to="+t.Bind))
	}
	s.steps = []step{{work: w, contenders: all}}
	f, rounds, err := r.rounds(ctx, s, Config{Rounds: t.Rounds})
	if err != nil {
		return err
	}
	r.report(s, f, rounds)
	if err := f.failure(); err != nil {
		return err
	}
	var timings []bench.Timing
	for _, name := range bench.Ladder() {
		for _, n := range w.Sizes {
			if seconds, ok := f.time(name, w.Ranks, n); ok {
				timings = append(timings, bench.Timing{Algorithm: name, Bytes: n, Time: seconds})
			}
		}
	}
	best := Crossover{Ranks: w.Ranks, Algorithm: bench.Crossovers(timings)}
	r.emit(best)
	r.Print(fmt.Sprintf("allreduce.algorithm: %q    # %d ranks", best.Algorithm, best.Ranks))
	return nil
}
