package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/bench/child"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest/netns"
)

// A Runner runs contenders and reports the results.
type Runner struct {
	child.Output

	failures map[variant]int
}

// Config configures a comparison.
type Config struct {
	Hosts, PerHost int    // ranks on each of Hosts namespaces; Hosts 0: on this host
	Rate           string // bandwidth of their links
	Only           string // one part of the tables: PartOneHost, PartFlat, PartHosts; "": all
	Short          bool   // fewer sizes
	Rounds         int
	Limit          time.Duration // no step begins after it, except in the first round; 0: none
}

// Check returns all errors of c, as exitcode.Usage.
func (c Config) Check() error {
	var errs []error
	if c.Rounds < 1 {
		errs = append(errs, fmt.Errorf("--rounds is %d, want 1 or more", c.Rounds))
	}
	if c.Hosts != 0 && (c.Hosts < 2 || c.Hosts > 64) {
		errs = append(errs, fmt.Errorf("--hosts is %d, want 2 to 64", c.Hosts))
	}
	if c.PerHost < 1 || c.PerHost > 64 {
		errs = append(errs, fmt.Errorf("--per-host is %d, want 1 to 64", c.PerHost))
	}
	errs = append(errs, c.checkPart())
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func (c Config) checkPart() error {
	switch {
	case c.Only != "" && c.Only != PartOneHost && c.Only != PartFlat && c.Only != PartHosts:
		return fmt.Errorf("--only is %q, want %s, %s, %s, train or clicks", c.Only, PartOneHost, PartFlat, PartHosts)
	case c.Hosts == 0 && c.Only == PartHosts:
		return fmt.Errorf("--only is %q and --hosts is 0, want 2 to 64", c.Only)
	case c.Hosts != 0 && (c.Only == PartOneHost || c.Only == PartFlat):
		return fmt.Errorf("--only is %q and --hosts is %d, want 0: this part is for ranks on this host", c.Only, c.Hosts)
	}
	return nil
}

// Compare runs all contenders in rounds and prints the times and the bars. A short bar
// or a library that cannot run is no error. A failure of ringtrain is exitcode.Failed,
// after everything is printed.
func (r *Runner) Compare(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	s := oneHost(r.Program, c.Short).part(c.Only)
	if c.Hosts > 0 {
		n, err := netns.New(ctx, netns.Config{Hosts: c.Hosts, Rate: c.Rate})
		if err != nil {
			return err
		}
		defer n.Close()
		s = overHosts(r.Program, c.Rate, Topology{Hosts: n.Hosts(), PerHost: c.PerHost}, c.Short)
	}
	f, rounds, err := r.rounds(ctx, s, c)
	if len(f.cells) > 0 {
		r.report(s, f, rounds)
	}
	return errors.Join(err, f.failure())
}

// settle runs the first contender uncounted for a while before the step. It ignores a
// failure, which the turn will find.
func (r *Runner) settle(ctx context.Context, st step, p Topology) {
	if st.settle == 0 {
		return
	}
	for start := time.Now(); ; {
		err := r.once(ctx, st.contenders[0], st.settling, p, newFigures())
		if err != nil || time.Since(start) >= st.settle {
			return
		}
	}
}

// rounds runs the suite and returns the number of complete rounds. If ctx ends, it
// returns the figures until then and the cause.
func (r *Runner) rounds(ctx context.Context, s suite, c Config) (*figures, int, error) {
	f, start := newFigures(), time.Now()
	for round := range c.Rounds {
		for _, st := range s.steps {
			if round > 0 && c.Limit > 0 && time.Since(start) > c.Limit {
				return f, round, nil
			}
			r.Log(fmt.Sprintf("round %d of %d: %s, %d ranks, %s", round+1, c.Rounds, s.title, st.work.Ranks, sizesText(st.work.Sizes)))
			r.settle(ctx, st, s.topology)
			for i := range max(st.turns, 1) * len(st.contenders) {
				who := st.contenders[(i+round)%len(st.contenders)]
				if err := r.turn(ctx, who, st.work, s.topology, f); err != nil {
					return f, round, err
				}
			}
		}
	}
	return f, c.Rounds, nil
}
