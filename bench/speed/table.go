package speed

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// figures has the measurements of a case, by contender.
type figures struct {
	of        Case
	turns     map[string][]float64 // examples a second
	libraries map[string]string    // description of what each runs
	lacking   map[string]error     // features that ringtrain lacks
	failed    map[string]error     // failures of ringtrain
	memory    map[string]int64     // maximum bytes of a rank
	rowBytes  map[string]float64   // mean length of a text record, for cases of parsing
}

func newFigures(c Case) *figures {
	return &figures{c, map[string][]float64{}, map[string]string{}, map[string]error{}, map[string]error{}, map[string]int64{}, nil}
}

func isRingtrain(name string) bool { return strings.HasPrefix(name, "ringtrain, ") }

// rate returns the median of a contender's turns.
func (f *figures) rate(name string) (examples float64, ok bool) {
	x := slices.Sorted(slices.Values(f.turns[name]))
	n := len(x)
	if n == 0 {
		return 0, false
	}
	return (x[(n-1)/2] + x[n/2]) / 2, true
}

// best returns the contender with the highest rate.
func (f *figures) best(names []string) (who string, examples float64) {
	for _, name := range names {
		if r, ok := f.rate(name); ok && r > examples {
			who, examples = name, r
		}
	}
	return who, examples
}

// failure returns nil, or exitcode.Failed with all failures of ringtrain.
func failure(all []*figures) error {
	var errs []error
	for _, f := range all {
		for _, name := range f.of.who {
			if err := f.failed[name]; err != nil {
				errs = append(errs, fmt.Errorf("bench peers: %s, %s: %w", f.of.Name, name, err))
			}
		}
	}
	return exitcode.With(exitcode.Failed, errors.Join(errs...))
}

// A Rate is the median of one contender's turns in a case. Its JSON form is a line
// of bench peers --only train --json.
type Rate struct {
	Case         string    `json:"case"`
	Who          string    `json:"who"`
	ExamplesPerS float64   `json:"examples_per_s"` // GFLOP/s for sgemm
	Turns        []float64 `json:"turns"`
	TwoRanks     float64   `json:"two_ranks"`                // ringtrain's rate on 2 ranks divided by this one; 0: unknown
	OneRank      float64   `json:"one_rank"`                 // the same for 1 rank
	MBPerS       float64   `json:"mb_per_s,omitempty"`       // of text, for cases of parsing
	Memory       int64     `json:"rank_rss_bytes,omitempty"` // maximum RssAnon and RssShmem of a rank of ringtrain
	Runs         string    `json:"runs,omitempty"`
}

// Kind names the event.
func (Rate) Kind() string { return "speed" }

// String returns a line of the table.
func (r Rate) String() string {
	line := fmt.Sprintf("%-34s %12.0f %9.0f %9.0f %9s %8s", "    "+r.Who, r.ExamplesPerS,
		slices.Min(r.Turns), slices.Max(r.Turns), times(r.TwoRanks), times(r.OneRank))
	if r.MBPerS > 0 {
		line += fmt.Sprintf("  %.0f MB/s", r.MBPerS)
	}
	if r.Memory > 0 {
		line += fmt.Sprintf("  %d MiB a rank", r.Memory>>20)
		if r.Case == tableCase {
			line += " beyond its table"
		}
	}
	return line
}

// times formats a ratio, 0 as a dash.
func times(ratio float64) string {
	if ratio <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}

// rows prints the figures of a case.
func (co *Comparison) rows(f *figures) {
	co.Print("# " + f.of.Text + load())
	co.Print(fmt.Sprintf("#%-33s %12s    lowest   highest   2 ranks   1 rank", "   the median of all turns", f.of.unit()))
	for _, name := range f.of.who {
		rate, ok := f.rate(name)
		switch {
		case ok:
			r := Rate{Case: f.of.Name, Who: name, ExamplesPerS: rate, Turns: f.turns[name], Runs: f.libraries[name]}
			r.TwoRanks, r.OneRank = f.ratio(f.ownContender(twoRanks), rate), f.ratio(f.ownContender(oneRank), rate)
			r.Memory, r.MBPerS = f.memory[name], rate*f.rowBytes[name]/1e6
			co.Print(r.String())
			if co.Event != nil {
				co.Event(r)
			}
		case f.lacking[name] != nil:
			co.Print(fmt.Sprintf("%-34s %12s: %s", "    "+name, "lacking", reason(f.lacking[name])))
		case f.failed[name] != nil:
			co.Print(fmt.Sprintf("%-34s %12s", "    "+name, "FAILED"))
		default:
			co.Print(fmt.Sprintf("%-34s %12s", "    "+name, "missing"))
		}
	}
}

// load returns the load of the machine, if the system reports it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	if err != nil || len(words) == 0 {
		return ""
	}
	return "; load average " + words[0]
}

// ratio returns ringtrain's rate divided by rate, 0 if it is unknown.
func (f *figures) ratio(ours string, rate float64) float64 {
	mine, _ := f.rate(ours)
	return mine / rate
}

// ownContender returns the first contender with that name or prefix.
func (f *figures) ownContender(name string) string {
	i := slices.IndexFunc(f.of.who, func(who string) bool { return strings.HasPrefix(who, name) })
	if i < 0 {
		return name
	}
	return f.of.who[i]
}

// A bar is a required ratio of ringtrain's rate to the best of some contenders.
type bar struct {
	ours   string
	theirs []string
	want   float64
}

// A Verdict is the result of a bar. Its JSON form is a line of bench peers --only train
// --json.
type Verdict struct {
	Case    string   `json:"case"`
	Ours    string   `json:"ours"`
	Best    string   `json:"best"`  // the fastest of the compared contenders
	Ratio   float64  `json:"ratio"` // 0: not measured
	Want    float64  `json:"want"`
	State   string   `json:"state"`             // met, SHORT, NOT MET, not measured, lacking
	Without []string `json:"without,omitempty"` // compared contenders that are missing
}

// Kind names the event.
func (Verdict) Kind() string { return "train_bar" }

// evaluate compares the figures with the bar.
func (b bar) evaluate(f *figures) Verdict {
	v := Verdict{Case: f.of.Name, Ours: b.ours, Want: b.want}
	for _, name := range b.theirs {
		if _, ok := f.rate(name); !ok {
			v.Without = append(v.Without, name)
		}
	}
	mine, known := f.rate(b.ours)
	var theirs float64
	v.Best, theirs = f.best(b.theirs)
	switch {
	case f.lacking[b.ours] != nil:
		v.State = "lacking"
	case f.failed[b.ours] != nil:
		v.State = "NOT MET"
	case !known || theirs == 0:
		v.State = "not measured"
	default:
		v.Ratio, v.State = mine/theirs, "SHORT"
		if v.Ratio >= v.Want {
			v.State = "met"
		}
	}
	return v
}

// String returns the verdict as a line of text.
func (v Verdict) String() string {
	text := fmt.Sprintf("%-10s %-20s %-13s", v.Case, v.Ours, v.State)
	if v.Ratio > 0 {
		text += fmt.Sprintf(" %5.2f [%.2f] of %s", v.Ratio, v.Want, v.Best)
	}
	if len(v.Without) > 0 {
		text += "; without " + strings.Join(v.Without, "; ")
	}
	return text
}

// verdicts prints the results of the bars.
func (co *Comparison) verdicts(all []*figures) {
	co.Print("# bars: ringtrain's examples a second by those of the best of theirs; the required ratio in brackets")
	for _, f := range all {
		for _, b := range f.of.bars {
			v := b.evaluate(f)
			co.Print(v.String())
			if co.Event != nil {
				co.Event(v)
			}
		}
	}
}
