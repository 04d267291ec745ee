package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cores"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest/netns"
)

// CheckConfig configures a comparison of predictions with measurements.
type CheckConfig struct {
	Program string // path of ringtrain
	Hosts   []int  // numbers of hosts, with one rank per host
	Wires   []Wire // rates that tc shapes
	Sizes   []int
	Codecs  []codec.Codec
	Budget  time.Duration // for the sums of a cell in all rounds; three times as much below 1 MiB
	Stderr  io.Writer     // standard error of the ranks
}

// Check returns all errors of c, as exitcode.Usage.
func (c CheckConfig) Check() error {
	errs := []error{ScaleConfig{Ranks: c.Hosts, Wires: c.Wires, Sizes: c.Sizes, Codecs: c.Codecs}.Check()}
	if c.Budget <= 0 {
		errs = append(errs, fmt.Errorf("--budget is %v, want more than 0", c.Budget))
	}
	for _, n := range c.Hosts {
		if n > maxCheckHosts {
			errs = append(errs, fmt.Errorf("-np has %d, want at most %d hosts on one machine", n, maxCheckHosts))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// A Trial is a forecast with its measurement. Its JSON form is a line of bench scale
// --check --json.
type Trial struct {
	Forecast
	Measured float64 `json:"measured_s"`
	Error    float64 `json:"error"` // predicted / measured - 1
}

// Kind names the event.
func (Trial) Kind() string { return "scale_check" }

// TrialHeader is the head of the table of Trial.String lines.
const TrialHeader = `#    wire  hosts     bytes   codec  algorithm  predicted   measured    error`

// String returns a line of the table.
func (t Trial) String() string {
	return fmt.Sprintf("%9s %6d %9s %7s %10s %10s %10s %+7.1f%%", t.Wire, t.Hosts, SizeText(t.Bytes), t.Codec, t.Algorithm,
		timeText(t.Predicted), timeText(t.Measured), 100*t.Error)
}

// A Worst is the trial with the largest prediction error. Its JSON form is the last line
// of bench scale --check --json.
type Worst struct {
	Trial
	Trials int     `json:"trials"`
	Want   float64 `json:"want"` // largest allowed absolute error
	Met    bool    `json:"met"`
}

// Kind names the event.
func (Worst) Kind() string { return "scale_worst" }

// String returns the last line of the table.
func (w Worst) String() string {
	met := "met"
	if !w.Met {
		met = "SHORT"
	}
	return fmt.Sprintf("# worst of %d: %+.1f%% at %s, %d hosts, %s, %s; want at most %g%%: %s",
		w.Trials, 100*w.Error, w.Wire, w.Hosts, SizeText(w.Bytes), w.Codec, 100*w.Want, met)
}

// wantError is the largest allowed absolute error of the model.
const wantError = 0.15

// WorstOf returns the trial with the largest absolute error. trials must not be empty.
func WorstOf(trials []Trial) Worst {
	w := Worst{Trial: trials[0], Trials: len(trials), Want: wantError}
	for _, t := range trials {
		if math.Abs(t.Error) > math.Abs(w.Error) {
			w.Trial = t
		}
	}
	w.Met = math.Abs(w.Error) <= w.Want
	return w
}

const (
	maxCheckHosts = 64
	checkRounds   = 5
	lightBytes    = 1 << 20                // smaller buffers
	lightTimes    = 3                      // are measured this many times per round, because the variation of core speeds affects them most
	streamOf      = time.Second            // duration of the measurement of a stream
	hopBudget     = 300 * time.Millisecond // for the measurement of the latency
	hopBytes      = 4 << 10                // of float32 in a frame of that measurement
	burstBytes    = 128 << 10              // of the shapers of package netns
	checkBatch    = "32MiB"
)

// CheckScale measures all-reduce on hosts that are network namespaces with shaped links,
// and calls each with the predictions and measurements. core has the CoreRates of
// ColdBytes: hosts that share cores and caches evict each other's elements.
//
// For each wire and number of hosts CheckScale measures the bandwidth and the latency
// first. The bandwidth is that of simultaneous plain TCP streams between all neighbours.
// The latency is the time of a step in which a ring sums 4 KiB per host with the last
// codec, minus the model's core time for it. Predicted cells contribute to neither. All
// measurements run in rounds: the bandwidth is the best round, the others are medians.
//
// The hosts share the machine's cores, so each host gets its share of one core's rates.
// The CPU time of the streams shows the cost of the links, including shaping and
// switching.
func CheckScale(ctx context.Context, c CheckConfig, core cost.Rates, each func(Trial) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	for _, w := range c.Wires {
		for _, hosts := range c.Hosts {
			if err := c.on(ctx, w, hosts, core, each); err != nil {
				return fmt.Errorf("%d hosts, %s: %w", hosts, w.Name, err)
			}
		}
	}
	return nil
}

// on compares one wire and number of hosts.
func (c CheckConfig) on(ctx context.Context, w Wire, hosts int, core cost.Rates, each func(Trial) error) error {
	n, err := netns.New(ctx, netns.Config{Hosts: hosts, Rate: w.Name})
	if err != nil {
		return err
	}
	defer n.Close()
	ranks := rankRunner{Program: c.Program, Hosts: n.Hosts(), Stderr: c.Stderr}
	var m checked
	for range checkRounds {
		if err := ranks.round(ctx, c, &m); err != nil {
			return err
		}
	}
	core.Sockets = min(core.Sockets, median(m.sockets))
	r := sharedCores(core, hosts, cores.Own())
	r.Latency, r.Burst = latencyOf(median(m.hops), r, c.hopCodec(), hosts), burstBytes
	w.Rate = m.rate
	for _, row := range m.medians() {
		t, err := trial(w, hosts, r, row)
		if err == nil {
			err = each(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hopCodec returns the codec of the small frames.
func (c CheckConfig) hopCodec() codec.Codec { return c.Codecs[len(c.Codecs)-1] }

// latencyOf returns the part of a small frame's time that the rates of r do not explain.
func latencyOf(hop time.Duration, r cost.Rates, cd codec.Codec, hosts int) time.Duration {
	l := cost.Layout{Hosts: hosts, Local: 1}
	work := cost.Predict(r, coding(r, cd), int64(hosts*hopBytes), l).CPU
	return max(hop-work/time.Duration(ringSteps(hosts)), 0)
}

// launches returns the options of bench allreduce for each launch of a round.
func (c CheckConfig) launches() (all [][]string) {
	var light, rest []int
	for _, bytes := range c.Sizes {
		if bytes < lightBytes {
			light = append(light, bytes)
		} else {
			rest = append(rest, bytes)
		}
	}
	if len(light) > 0 {
		all = slices.Repeat([][]string{c.launch(light)}, lightTimes)
	}
	if len(rest) > 0 {
		all = append(all, c.launch(rest))
	}
	return all
}

// launch returns the options for the cells of some sizes.
func (c CheckConfig) launch(sizes []int) []string {
	var codecs, texts []string
	for _, cd := range c.Codecs {
		codecs = append(codecs, cd.String())
	}
	for _, bytes := range sizes {
		texts = append(texts, SizeText(bytes))
	}
	return []string{"--sizes=" + strings.Join(texts, ","), "--codec=" + strings.Join(codecs, ","),
		fmt.Sprintf("--budget=%v", c.Budget/checkRounds), "--batch=" + checkBatch}
}

// checked has the measurements of a rankRunner.
type checked struct {
	rate    float64   // bytes/s of a stream
	sockets []float64 // bytes/s that one core passes through the links
	hops    []time.Duration
	cells   []Row       // with the times of the first launch
	times   [][]float64 // by cell, of all launches
}

// round measures the links and the sums once and adds the results to m. It keeps the
// largest rate: other load on the machine can only make a wire slower.
func (r rankRunner) round(ctx context.Context, check CheckConfig, m *checked) error {
	rate, sockets, err := r.streams(ctx)
	if err != nil {
		return err
	}
	m.rate, m.sockets = max(m.rate, rate), append(m.sockets, sockets)
	for _, args := range check.launches() {
		hop, err := r.hop(ctx, check.hopCodec())
		if err != nil {
			return err
		}
		rows, err := r.sums(ctx, args...)
		if err != nil {
			return err
		}
		m.hops = append(m.hops, hop)
		m.add(rows)
	}
	return nil
}

// add adds the rows of a launch to ch.
func (ch *checked) add(rows []Row) {
	for _, r := range rows {
		i := slices.IndexFunc(ch.cells, func(c Row) bool { return c.Bytes == r.Bytes && c.Codec == r.Codec })
		if i < 0 {
			i, ch.cells, ch.times = len(ch.cells), append(ch.cells, r), append(ch.times, nil)
		}
		ch.times[i] = append(ch.times[i], r.Time)
	}
}

// medians returns the cells with their median times. A pause makes one sum slower and
// the next one faster, because the shaper then has a burst.
func (ch *checked) medians() []Row {
	rows := slices.Clone(ch.cells)
	for i := range rows {
		rows[i].Time = median(ch.times[i])
	}
	return rows
}

// median returns the median, the upper one of two.
func median[T cmp.Ordered](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

// streams returns the rate of a stream in bytes/s while all hosts send, and the bytes/s
// that one core passes through the links, out and in. It derives the latter from the
// CPU-time difference of a long and a short stream, which cancels the cost of start and
// end.
func (r rankRunner) streams(ctx context.Context) (rate, sockets float64, err error) {
	var bytes, cores [2]float64
	for i, d := range [...]time.Duration{streamOf / 8, streamOf} {
		before := childrenTime()
		l, err := r.limit(ctx, fmt.Sprintf("--duration=%v", d))
		if err != nil {
			return 0, 0, err
		}
		rate = l.Rate * gigabyte
		bytes[i], cores[i] = rate*d.Seconds()*float64(len(r.Hosts)), (childrenTime() - before).Seconds()
	}
	return rate, perSecond(bytes[1]-bytes[0], cores[1]-cores[0]), nil
}

// perSecond returns n/seconds, or an unlimited rate if either is too small to measure.
func perSecond(n, seconds float64) float64 {
	if n <= 0 || seconds <= 0 {
		return math.Inf(1)
	}
	return n / seconds
}

// hop returns the time of a small frame from host to host, with the rank's own work.
func (r rankRunner) hop(ctx context.Context, cd codec.Codec) (time.Duration, error) {
	out, err := r.run(ctx, "allreduce", "--in-place", "--sizes="+SizeText(len(r.Hosts)*hopBytes), "--codec="+cd.String(),
		"--algorithm=ring", fmt.Sprintf("--budget=%v", hopBudget))
	if err != nil {
		return 0, err
	}
	return HopOf(out, len(r.Hosts))
}

// HopOf returns the time of a hop from the output of bench allreduce --json for one
// small buffer that the given number of ranks sum by ring. In each step every rank sends
// one frame to the next.
func HopOf(out []byte, ranks int) (time.Duration, error) {
	rows, err := rowsOf(out)
	if err != nil {
		return 0, err
	}
	return time.Duration(math.Round(rows[0].Time / float64(ringSteps(ranks)) * float64(time.Second))), nil
}

func ringSteps(ranks int) int { return 2 * (ranks - 1) }

// trial compares a row with its forecast.
func trial(w Wire, hosts int, r cost.Rates, row Row) (Trial, error) {
	cd, err := codec.Parse(row.Codec)
	if err != nil {
		return Trial{}, fmt.Errorf("bench: a row of the ranks: %w", err)
	}
	t := Trial{Forecast: ScaleConfig{Algorithm: ring.ByAuto}.forecast(w, row.Bytes, cd, hosts, r), Measured: row.Time}
	t.Error = t.Predicted/t.Measured - 1
	return t, nil
}

// sharedCores returns a rank's share of the rates if ranks share the cores.
func sharedCores(r cost.Rates, ranks, cores int) cost.Rates {
	share := min(float64(cores)/float64(ranks), 1)
	r.Sockets, r.Add, r.Memory = r.Sockets*share, r.Add*share, r.Memory*share
	codings := make([]cost.Coding, len(r.Codings))
	for i, c := range r.Codings {
		codings[i] = cost.Coding{Name: c.Name, Ratio: c.Ratio, Encode: c.Encode * share, Decode: c.Decode * share}
	}
	r.Codings, r.Uneven = codings, ranks > cores
	return r
}
