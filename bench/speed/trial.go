package speed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// A Setting is one way to run a job, beside others.
type Setting struct {
	Ranks int
	Codec string // as allreduce.codec; "": that of the job, or none is in use
}

// String describes the setting.
func (s Setting) String() string {
	if s.Codec == "" {
		return phrase.Count(s.Ranks, "rank")
	}
	return phrase.Count(s.Ranks, "rank") + ", codec " + s.Codec
}

// A Trial times a job in several settings. They take turns, so that a change of the machine's load
// meets all of them.
type Trial struct {
	Program  string
	Job      string // a job file, or the name of a built-in job
	Name     string // of the job, for people
	Settings []Setting
	Launch   []string // options of run and of the job
	Sets     []string // options of the job
	Rounds   int      // turns of each setting
	Warm     time.Duration
	Measure  time.Duration // of a turn, after Warm
	Cores    int           // that all ranks share; 0: unknown, as on several hosts
	Log      func(line string)
}

// A Tried is the speed of a job in a setting. Its JSON form is a line of bench job --json.
type Tried struct {
	Job          string  `json:"job"`
	Ranks        int     `json:"ranks"`
	Codec        string  `json:"codec,omitempty"`
	ExamplesPerS float64 `json:"examples_per_s"` // median of the turns
	Spread       float64 `json:"spread"`         // half of the range of the turns, as a share of the median
	SpeedUp      float64 `json:"speed_up"`       // over the setting with the fewest ranks
	Input        float64 `json:"input_share"`    // of a step: waiting for a batch
	Compute      float64 `json:"compute_share"`  // forward, backward and update
	Exchange     float64 `json:"exchange_share"` // waiting for the sum
	RSS          int64   `json:"rss_bytes"`      // resident memory of the largest rank
	Note         string  `json:"note,omitempty"`
}

// Kind names the event.
func (Tried) Kind() string { return "train_speed" }

// untouched are options with which a job writes into none of its folders, evaluates nothing and does
// not end by itself.
func untouched() []string {
	return []string{
		"checkpoint.dir=", "export.savedmodel=", "summary.dir=", "log.history=false", "eval.every=0", "eval.progressive=false",
		"train.early_stopping.patience=0", "train.steps=0", fmt.Sprintf("train.epochs=%d", endless),
	}
}

// Run times all settings and returns a row for each, in order. The error names the setting that failed.
func (t Trial) Run(ctx context.Context) ([]Tried, error) {
	turns := make([][]Result, len(t.Settings))
	for round := range t.Rounds {
		for i, s := range t.Settings {
			sets := append(untouched(), t.Sets...)
			if s.Codec != "" {
				sets = append(sets, "allreduce.codec="+s.Codec)
			}
			r, err := Run{Program: t.Program, Job: t.Job, Sets: sets, Ranks: s.Ranks, Launch: t.Launch, Warm: t.Warm, Measure: t.Measure}.Time(ctx)
			if err != nil {
				return nil, exitcode.With(exitcode.Failed, fmt.Errorf("%s on %v: %w", t.Name, s, err))
			}
			t.Log(fmt.Sprintf("%s: turn %d of %d on %v: %.0f examples/s", t.Name, round+1, t.Rounds, s, r.ExamplesPerS))
			turns[i] = append(turns[i], r)
		}
	}
	rows := make([]Tried, len(turns))
	for i := range turns {
		rows[i] = t.row(t.Settings[i], turns[i])
	}
	base := slices.MinFunc(rows, func(a, b Tried) int { return a.Ranks - b.Ranks })
	for i := range rows {
		rows[i].SpeedUp = rows[i].ExamplesPerS / base.ExamplesPerS
	}
	return rows, nil
}

// row makes one row of the turns of a setting: the shares are those of the median turn.
func (t Trial) row(s Setting, turns []Result) Tried {
	slices.SortFunc(turns, func(a, b Result) int { return int(a.ExamplesPerS) - int(b.ExamplesPerS) })
	m := turns[len(turns)/2]
	row := Tried{
		Job: t.Name, Ranks: s.Ranks, Codec: s.Codec, ExamplesPerS: m.ExamplesPerS,
		Spread: (turns[len(turns)-1].ExamplesPerS - turns[0].ExamplesPerS) / 2 / m.ExamplesPerS,
		Input:  m.Input, Compute: m.Compute + m.Update, Exchange: m.Exchange,
	}
	for _, r := range turns {
		row.RSS = max(row.RSS, r.RSS)
	}
	if t.Cores > 0 && s.Ranks > t.Cores {
		row.Note = fmt.Sprintf("%d ranks share %s", s.Ranks, phrase.Count(t.Cores, "core"))
	}
	return row
}

// Shares of a step from which on a wait is worth a hint.
const (
	muchInput    = 0.2
	muchExchange = 0.3
)

// Advise chooses the number of ranks: the fewest of those whose rate is that of the fastest row, as far
// as the turns can tell. Of equal numbers it takes the codec that stands first.
func Advise(rows []Tried) report.Decision {
	best := slices.MaxFunc(rows, func(a, b Tried) int { return int(a.ExamplesPerS) - int(b.ExamplesPerS) })
	take, equal := best, 0
	for _, r := range rows {
		if !equals(best, r) {
			continue
		}
		equal++
		if r.Ranks < take.Ranks || r.Ranks == take.Ranks && lossless(r.Codec) && !lossless(take.Codec) {
			take = r
		}
	}
	d := report.Decision{What: "ranks", Choice: fmt.Sprintf("-np %d", take.Ranks)}
	if take.Codec != "" {
		d.Choice += " --codec " + take.Codec
	}
	first := slices.MinFunc(rows, func(a, b Tried) int { return a.Ranks - b.Ranks })
	switch {
	case len(rows) == 1:
		d.Why = "nothing else was tried"
	case take.Ranks > first.Ranks:
		d.Why = fmt.Sprintf("%.2f times %s", take.SpeedUp, aRank(first.Ranks))
	case equal > 1:
		d.Why = "nothing that was tried is faster beyond the spread of the turns"
	default:
		d.Why = "more ranks are slower here"
	}
	switch {
	case take.Input >= muchInput:
		d.Why += fmt.Sprintf(". Reading is %.0f %% of a step: input.cache, or ringtrain data convert", 100*take.Input)
	case take.Exchange >= muchExchange:
		d.Why += fmt.Sprintf(". Waiting for the exchange is %.0f %% of a step: a larger input.batch has fewer of them", 100*take.Exchange)
	}
	if !lossless(take.Codec) {
		d.Why += fmt.Sprintf(". The codec %s rounds: compare the metric by a whole run", take.Codec)
	}
	return d
}

// equals reports whether the turns of a slower row reach those of the best one.
func equals(best, r Tried) bool {
	return r.ExamplesPerS*(1+r.Spread) >= best.ExamplesPerS*(1-best.Spread)
}

// lossless reports whether a codec of a setting keeps every bit.
func lossless(codec string) bool { return codec == "" || codec == "none" }

func aRank(n int) string {
	if n == 1 {
		return "one rank"
	}
	return phrase.Count(n, "rank")
}
