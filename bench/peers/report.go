package peers

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/bench"
	"ringtrain/model/train"
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

// report tells all figures and how the bars were met.
func (r *Runner) report(s suite, f *figures, rounds int) {
	names := s.names(f)
	r.Print(fmt.Sprintf("# all-reduce, %s: median time in us over %d interleaved rounds, and how many times ringtrain's it is", s.title, rounds))
	head := fmt.Sprintf("#ranks %9s", "bytes")
	for _, who := range names {
		head += fmt.Sprintf("  %17s", who)
	}
	r.Print(head)
	for _, ranks := range f.ranks() {
		for _, bytes := range f.sizes() {
			r.line(f, names, ranks, bytes)
		}
	}
	r.verdicts(s, f)
}

// names returns the contenders that have figures, in order of the suite.
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
	for c := range f.times {
		if c.who == who {
			return true
		}
	}
	return false
}

// line tells one size on so many ranks, unless nobody has a figure.
func (r *Runner) line(f *figures, names []string, ranks, bytes int) {
	text, any := fmt.Sprintf("%6d %9s", ranks, bench.SizeText(bytes)), false
	mine, known := f.time(ours, ranks, bytes)
	for _, who := range names {
		t, ok := f.time(who, ranks, bytes)
		switch {
		case !ok:
			text += fmt.Sprintf("  %17s", "-")
			continue
		case who == ours || !known:
			text += fmt.Sprintf("  %17.1f", t*1e6)
		default:
			text += fmt.Sprintf("  %10.1f %6s", t*1e6, ratioText(t/mine))
		}
		any = true
		r.emit(Figure{Who: who, Ranks: ranks, Bytes: bytes, Time: t, BusBW: bench.BusBW(float64(bytes)/t/1e9, ranks)})
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

// verdicts tells how the bars were met.
func (r *Runner) verdicts(s suite, f *figures) {
	r.Print("# bars: ratio of the best of theirs to ours, as a geometric mean and in the worst cell; what is wanted in brackets")
	for _, b := range s.bars {
		v := b.judge(f)
		r.emit(v)
		r.Print(v.String())
	}
}

// String is one line for people.
func (v Verdict) String() string {
	if v.Cells == 0 {
		return fmt.Sprintf("%-62s not measured", v.Text)
	}
	met := "met"
	if !v.Met {
		met = "SHORT"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-62s %-5s  mean %6s", v.Text, met, ratioText(v.Mean))
	if v.WantMean > 0 {
		fmt.Fprintf(&b, " [%.2f]", v.WantMean)
	}
	fmt.Fprintf(&b, "  worst %6s", ratioText(v.Least))
	if v.WantLeast > 0 {
		fmt.Fprintf(&b, " [%.2f]", v.WantLeast)
	}
	fmt.Fprintf(&b, " at %d ranks, %s; %d cells", v.Ranks, bench.SizeText(v.Bytes), v.Cells)
	return b.String()
}

func (r *Runner) emit(e train.Event) {
	if r.Event != nil {
		r.Event(e)
	}
}
