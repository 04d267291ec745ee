package peers

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	patience = 4 * time.Minute // how long one run of a contender may take
	tries    = 2               // how often it may fail: once may be the machine's fault
)

// A seat is what fails as one: a setting of a contender with so many ranks.
type seat struct {
	name, setting string
	ranks         int // 0: with any number
}

func (s seat) String() string {
	who := s.name
	if s.setting != "" {
		who += ", " + s.setting + ","
	}
	if s.ranks > 0 {
		who += fmt.Sprintf(" with %d ranks", s.ranks)
	}
	return who
}

// A Failure is what ringtrain itself could not do. Its JSON form is a line of
// bench peers --json.
type Failure struct {
	Who   string `json:"who"`
	Ranks int    `json:"ranks"`
	Cause string `json:"cause"`
}

// Kind names the event.
func (Failure) Kind() string { return "peer_failed" }

// turn has a contender do the work once, unless it is out. Whoever fails has
// one more try: ringtrain at once, a library in its next turn. Then ringtrain's
// cells have failed, and a library is out. The error is the end of ctx.
func (r *Runner) turn(ctx context.Context, who Contender, w Work, p Place, f *figures) error {
	anywhere, here := seat{name: who.Name}, seat{who.Name, who.setting, w.Ranks}
	if r.strikes[anywhere] >= tries || r.strikes[here] >= tries {
		return nil
	}
	if err := who.ready(ctx); err != nil && ctx.Err() == nil {
		r.strike(anywhere, tries)
		r.Say(fmt.Sprintf("%v is skipped from here on: %v", anywhere, err))
		return nil
	}
	for r.strikes[here] < tries {
		err := r.once(ctx, who, w, p, f)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			return nil
		}
		r.strike(here, 1)
		if !who.own {
			r.tellLibrary(here, err)
			return nil
		}
		r.tellOwn(here, w, f, err)
	}
	return nil
}

// tellLibrary says what becomes of a library that failed.
func (r *Runner) tellLibrary(here seat, why error) {
	if r.strikes[here] < tries {
		r.Say(fmt.Sprintf("%v has failed and has one more try, in its next turn: %v", here, why))
		return
	}
	r.Say(fmt.Sprintf("%v is skipped from here on: %v", here, why))
}

// tellOwn says that ringtrain failed; the second time its cells have.
func (r *Runner) tellOwn(here seat, w Work, f *figures, why error) {
	if r.strikes[here] < tries {
		r.Say(fmt.Sprintf("%v has FAILED and is tried again: %v", here, why))
		return
	}
	failure := Failure{here.name, here.ranks, why.Error()}
	f.fail(failure, w.Sizes)
	r.emit(failure)
	r.Say(fmt.Sprintf("%v has FAILED again and is not tried any more: %v", here, why))
}

func (r *Runner) strike(s seat, times int) {
	if r.strikes == nil {
		r.strikes = map[seat]int{}
	}
	r.strikes[s] += times
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
