package peers

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	runTimeout = 4 * time.Minute // time limit of one run of a contender
	tries      = 2               // failures until a contender is left out; one may be the machine's fault
)

// A variant is a setting of a contender with a world size. It fails as a unit.
type variant struct {
	name, setting string
	ranks         int // 0: any number
}

func (v variant) String() string {
	who := v.name
	if v.setting != "" {
		who += ", " + v.setting + ","
	}
	if v.ranks > 0 {
		who += fmt.Sprintf(" with %d ranks", v.ranks)
	}
	return who
}

// A Failure is a failure of ringtrain itself. Its JSON form is a line of bench peers
// --json.
type Failure struct {
	Who   string `json:"who"`
	Ranks int    `json:"ranks"`
	Cause string `json:"cause"`
}

// Kind names the event.
func (Failure) Kind() string { return "peer_failed" }

// turn runs a contender once, unless it was left out. A contender that fails has one
// more try: ringtrain at once, a library in its next turn. After the second failure the
// cells of ringtrain have failed, and a library is left out. The error is the end of
// ctx.
func (r *Runner) turn(ctx context.Context, who Contender, w Work, p Topology, f *figures) error {
	anywhere, here := variant{name: who.Name}, variant{who.Name, who.setting, w.Ranks}
	if r.failures[anywhere] >= tries || r.failures[here] >= tries {
		return nil
	}
	if err := who.ready(ctx); err != nil && ctx.Err() == nil {
		r.countFailures(anywhere, tries)
		r.Log(fmt.Sprintf("%v is skipped from here on: %v", anywhere, err))
		return nil
	}
	for r.failures[here] < tries {
		err := r.once(ctx, who, w, p, f)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			return nil
		}
		r.countFailures(here, 1)
		if !who.own {
			r.reportLibrary(here, err)
			return nil
		}
		r.reportOwn(here, w, f, err)
	}
	return nil
}

// reportLibrary reports the failure of a library.
func (r *Runner) reportLibrary(here variant, why error) {
	if r.failures[here] < tries {
		r.Log(fmt.Sprintf("%v has failed and has one more try, in its next turn: %v", here, why))
		return
	}
	r.Log(fmt.Sprintf("%v is skipped from here on: %v", here, why))
}

// reportOwn reports a failure of ringtrain. After the second one its cells have failed.
func (r *Runner) reportOwn(here variant, w Work, f *figures, why error) {
	if r.failures[here] < tries {
		r.Log(fmt.Sprintf("%v has FAILED and is tried again: %v", here, why))
		return
	}
	failure := Failure{here.name, here.ranks, why.Error()}
	f.fail(failure, w.Sizes)
	r.emit(failure)
	r.Log(fmt.Sprintf("%v has FAILED again and is not tried any more: %v", here, why))
}

func (r *Runner) countFailures(s variant, times int) {
	if r.failures == nil {
		r.failures = map[variant]int{}
	}
	r.failures[s] += times
}

// once runs a contender and adds its times.
func (r *Runner) once(ctx context.Context, who Contender, w Work, p Topology, f *figures) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	bounded, cancel := context.WithTimeoutCause(ctx, runTimeout, fmt.Errorf("took more than %v", runTimeout))
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
