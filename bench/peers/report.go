package peers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringtrain/bench"
	"ringtrain/model/train/report"
)

// A Figure is the median time of one contender. Its JSON form is a line of
// bench peers --json.
type Figure struct {
	Who   string  `json:"who"`
	Ranks int     `json:"ranks"`
	Bytes int     `json:"bytes"`
	Time  float64 `json:"time_s"`
	BusBW float64 `json:"busbw_gb_s"`
}

// Kind names the event.
func (Figure) Kind() string { return "peer" }

// report prints all figures and the results of the bars.
func (r *Runner) report(s suite, f *figures, rounds int) {
	names := s.names(f)
	r.Print(fmt.Sprintf("# all-reduce, %s: median time in us over %s, and how many times %s's it is", s.title, roundsText(rounds), s.baseName()))
	head := fmt.Sprintf("#ranks %9s", "bytes")
	for _, who := range names {
		head += fmt.Sprintf("  %17s", who)
	}
	r.Print(head)
	for _, ranks := range f.ranks() {
		for _, bytes := range f.sizes() {
			r.line(f, names, s.baseName(), Point{ranks, bytes})
		}
	}
	r.verdicts(s, f)
}

// roundsText describes the number of complete rounds. In the first round some cells may
// be empty.
func roundsText(rounds int) string {
	if rounds == 0 {
		return "a part of one round"
	}
	return fmt.Sprintf("%d interleaved rounds", rounds)
}

func (s suite) baseName() string { return cmp.Or(s.base, ours) }

// names returns the contenders with figures or failures, in order of the suite.
func (s suite) names(f *figures) []string {
	var names []string
	for _, st := range s.steps {
		for _, who := range st.contenders {
			if f.has(who.Name) && !slices.Contains(names, who.Name) {
				names = append(names, who.Name)
			}
		}
	}
	return names
}

func (f *figures) has(who string) bool {
	for c := range f.cells {
		if c.who == who {
			return true
		}
	}
	return false
}

// line prints the figures at one point, if there are any.
func (r *Runner) line(f *figures, names []string, base string, at Point) {
	text, any := fmt.Sprintf("%6d %9s", at.Ranks, bench.SizeText(at.Bytes)), false
	mine, known := f.time(base, at.Ranks, at.Bytes)
	for _, who := range names {
		t, ok := f.time(who, at.Ranks, at.Bytes)
		failed := f.cells[cell{who, at.Ranks, at.Bytes}].failed
		switch {
		case failed:
			text += fmt.Sprintf("  %17s", "FAILED")
		case !ok:
			text += fmt.Sprintf("  %17s", "-")
		case who == base || !known:
			text += fmt.Sprintf("  %17.1f", t*1e6)
		default:
			text += fmt.Sprintf("  %10.1f %6s", t*1e6, ratioText(t/mine))
		}
		any = any || ok || failed
		if ok {
			r.emit(Figure{Who: who, Ranks: at.Ranks, Bytes: at.Bytes, Time: t, BusBW: bench.BusBW(float64(at.Bytes)/t/1e9, at.Ranks)})
		}
	}
	if any {
		r.Print(text)
	}
}

func ratioText(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// verdicts prints the results of the bars.
func (r *Runner) verdicts(s suite, f *figures) {
	if len(s.bars) == 0 {
		return
	}
	r.Print("# bars: ratio of the best of theirs to ours, as a geometric mean and in the worst cell; the required ratio in brackets")
	for _, b := range s.bars {
		v := b.evaluate(f)
		r.emit(v)
		r.Print(v.String())
	}
}

// String returns the verdict as a line of text.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-62s %s", v.Text, v.state())
	if v.Cells > 0 {
		fmt.Fprintf(&b, "  mean %6s", ratioText(v.Mean))
		if v.WantMean > 0 {
			fmt.Fprintf(&b, " [%.2f]", v.WantMean)
		}
		fmt.Fprintf(&b, "  worst %6s", ratioText(v.Least))
		if v.WantLeast > 0 {
			fmt.Fprintf(&b, " [%.2f]", v.WantLeast)
		}
		fmt.Fprintf(&b, " at %d ranks, %s; %d cells", v.Ranks, bench.SizeText(v.Bytes), v.Cells)
	}
	for i, at := range v.Missing {
		fmt.Fprintf(&b, "%s %d ranks, %s", [...]string{"; missing:", ";"}[min(i, 1)], at.Ranks, bench.SizeText(at.Bytes))
	}
	for _, who := range slices.Sorted(maps.Keys(v.Without)) {
		fmt.Fprintf(&b, "; without %s in %d", who, v.Without[who])
	}
	return b.String()
}

// state returns the result of the bar. All words but "not measured" have one width.
func (v Verdict) state() string {
	switch {
	case len(v.Missing) > 0:
		return "NOT MET"
	case v.Cells == 0:
		return "not measured"
	case v.Met:
		return "met    "
	}
	return "SHORT  "
}

func (r *Runner) emit(e report.Event) {
	if r.Event != nil {
		r.Event(e)
	}
}
