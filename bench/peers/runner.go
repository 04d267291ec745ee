package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ringtrain/model/train"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest/netns"
)

// A Runner starts contenders and tells what came out.
type Runner struct {
	Program string            // this one
	Event   func(train.Event) // for programs; may be nil
	Print   func(line string) // for people
	Say     func(line string) // what goes on, and what is missing

	out map[outKey]bool
}

// Config says what is compared.
type Config struct {
	Hosts, PerHost int    // ranks on each of Hosts namespaces; Hosts 0: on this host
	Rate           string // of their links
	Short          bool   // fewer sizes
	Rounds         int
	Limit          time.Duration // no part of a round but the first begins after it; 0: none
}

// Check tells all that is wrong with c, as exitcode.Usage.
func (c Config) Check() error {
	var errs []error
	if c.Rounds < 1 {
		errs = append(errs, fmt.Errorf("rounds are %d, want 1 or more", c.Rounds))
	}
	if c.Hosts != 0 && (c.Hosts < 2 || c.Hosts > 64) {
		errs = append(errs, fmt.Errorf("hosts are %d, want 2 to 64", c.Hosts))
	}
	if c.PerHost < 1 || c.PerHost > 64 {
		errs = append(errs, fmt.Errorf("ranks per host are %d, want 1 to 64", c.PerHost))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Compare runs all contenders in rounds and prints the times and the bars. A
// bar that is not met is no error, and neither is a contender that cannot run.
func (r *Runner) Compare(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	s := oneHost(r.Program, c.Short)
	if c.Hosts > 0 {
		n, err := netns.New(ctx, netns.Config{Hosts: c.Hosts, Rate: c.Rate})
		if err != nil {
			return err
		}
		defer n.Close()
		s = overHosts(r.Program, c.Rate, Place{Hosts: n.Hosts(), PerHost: c.PerHost}, c.Short)
	}
	f, rounds, err := r.rounds(ctx, s, c)
	if err != nil {
		return err
	}
	r.report(s, f, rounds)
	return nil
}

// patience is how long one run of a contender may take.
const patience = 4 * time.Minute

// rounds runs the suite. It returns the number of whole rounds too.
func (r *Runner) rounds(ctx context.Context, s suite, c Config) (*figures, int, error) {
	f, start := newFigures(), time.Now()
	for round := range c.Rounds {
		for _, st := range s.steps {
			if round > 0 && c.Limit > 0 && time.Since(start) > c.Limit {
				return f, round, nil
			}
			r.Say(fmt.Sprintf("round %d of %d: %s, %d ranks", round+1, c.Rounds, s.title, st.work.Ranks))
			if err := r.step(ctx, st, s.place, f); err != nil {
				return nil, 0, err
			}
		}
	}
	return f, c.Rounds, nil
}

// step has each contender do the work once. The error is the end of ctx.
func (r *Runner) step(ctx context.Context, st step, p Place, f *figures) error {
	for _, who := range st.contenders {
		atAll, here := outKey{name: who.Name}, outKey{who.Name, who.setting, st.work.Ranks}
		if r.out[atAll] || r.out[here] {
			continue
		}
		out, err := atAll, who.ready(ctx)
		if err == nil {
			out = here
			err = r.once(ctx, who, st.work, p, f)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.skip(out, err)
		}
	}
	return nil
}

// An outKey names who cannot run: a setting with so many ranks, or all of them,
// with any number.
type outKey struct {
	name, setting string
	ranks         int
}

// skip says once why a contender does not run.
func (r *Runner) skip(out outKey, why error) {
	if r.out == nil {
		r.out = map[outKey]bool{}
	}
	r.out[out] = true
	who := out.name
	if out.setting != "" {
		who += ", " + out.setting + ","
	}
	if out.ranks > 0 {
		who += fmt.Sprintf(" with %d ranks", out.ranks)
	}
	r.Say(fmt.Sprintf("%s is skipped from here on: %v", who, why))
}

// once runs a contender and adds its times.
func (r *Runner) once(ctx context.Context, who Contender, w Work, p Place, f *figures) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	bounded, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("took more than %v", patience))
	defer cancel()
	samples, err := who.run(bounded, w, p, folder)
	if err != nil {
		return err
	}
	for _, s := range samples {
		f.add(who.Name, w.Ranks, s)
	}
	return nil
}
