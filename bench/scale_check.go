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

	"ringtrain/ring/codec"
	"ringtrain/ring/cores"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest/netns"
)

// CheckConfig says what predictions are held against.
type CheckConfig struct {
	Program string // ringtrain, whose bench is run
	Hosts   []int  // how many, each with one rank
	Wires   []Wire // as tc shapes them
	Sizes   []int
	Codecs  []codec.Codec
	Budget  time.Duration // for the sums of a cell, all rounds; three times that below 1 MiB
	Stderr  io.Writer     // for what ranks say
}

// Check tells all that is wrong with c, as exitcode.Usage.
func (c CheckConfig) Check() error {
	errs := []error{ScaleConfig{Ranks: c.Hosts, Wires: c.Wires, Sizes: c.Sizes, Codecs: c.Codecs}.Check()}
	if c.Budget <= 0 {
		errs = append(errs, fmt.Errorf("budget is %v, want more than 0", c.Budget))
	}
	for _, n := range c.Hosts {
		if n > maxCheckHosts {
			errs = append(errs, fmt.Errorf("hosts are %d, want at most %d on one machine", n, maxCheckHosts))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// A Trial is a forecast that was held against what was measured. Its JSON form
// is a line of bench scale --check --json.
type Trial struct {
	Forecast
	Measured float64 `json:"measured_s"`
	Error    float64 `json:"error"` // predicted / measured - 1
}

// Kind names the event.
func (Trial) Kind() string { return "scale_check" }

// TrialHeader is the head of the table that the lines of Trial.String make.
const TrialHeader = `#    wire  hosts     bytes   codec  algorithm  predicted   measured    error`

// String is one line of the table.
func (t Trial) String() string {
	return fmt.Sprintf("%9s %6d %9s %7s %10s %10s %10s %+7.1f%%", t.Wire, t.Hosts, SizeText(t.Bytes), t.Codec, t.Algorithm,
		timeText(t.Predicted), timeText(t.Measured), 100*t.Error)
}

// A Worst is the trial that was predicted worst. Its JSON form is the last line
// of bench scale --check --json.
type Worst struct {
	Trial
	Trials int     `json:"trials"`
	Want   float64 `json:"want"` // the largest error, either way, that is to be
	Met    bool    `json:"met"`
}

// Kind names the event.
func (Worst) Kind() string { return "scale_worst" }

// String is the last line of the table.
func (w Worst) String() string {
	met := "met"
	if !w.Met {
		met = "SHORT"
	}
	return fmt.Sprintf("# worst of %d: %+.1f%% at %s, %d hosts, %s, %s; at most %g%% is wanted: %s",
		w.Trials, 100*w.Error, w.Wire, w.Hosts, SizeText(w.Bytes), w.Codec, 100*w.Want, met)
}

// wantError is the largest error that the model is to have.
const wantError = 0.15

// WorstOf returns the trial with the largest error, either way. There must be
// one.
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
	lightBytes    = 1 << 20                // smaller buffers are measured
	lightTimes    = 3                      // so often a round: there the cores have most to do, and their pace varies
	streamOf      = time.Second            // that the wire is measured for
	hopBudget     = 300 * time.Millisecond // for its latency
	hopBytes      = 4 << 10                // of float32 in a frame then
	burstBytes    = 128 << 10              // of the shapers of package netns
	checkBatch    = "32MiB"
)

// CheckScale measures all-reduce on hosts that are network namespaces with
// shaped links, and calls each with the prediction beside it. core is what
// CoreRates says of ColdBytes: hosts that share cores and caches drive each other's
// elements out of them.
//
// For each wire and number of hosts, the bandwidth is that of plain TCP streams
// between all neighbours at once, and the latency the time of a step in which a
// ring sums 4 KiB a host with the last codec, less what the model has for its core:
// so small a frame of elements that lie in no cache. Nothing of what is predicted
// goes into them. All are measured in rounds, and the median counts, of the bandwidth
// the best. The hosts share the machine's cores, so each has its part of what one core
// does; what that does for the links, shaping and switching included, is told by the
// time of the cores that the streams take.
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

// on checks one wire and number of hosts.
func (c CheckConfig) on(ctx context.Context, w Wire, hosts int, core cost.Rates, each func(Trial) error) error {
	n, err := netns.New(ctx, netns.Config{Hosts: hosts, Rate: w.Name})
	if err != nil {
		return err
	}
	defer n.Close()
	ranks := crew{Program: c.Program, Hosts: n.Hosts(), Stderr: c.Stderr}
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

// hopCodec is that of the small frames.
func (c CheckConfig) hopCodec() codec.Codec { return c.Codecs[len(c.Codecs)-1] }

// latencyOf is what of the time of a small frame the rates of r do not explain.
func latencyOf(hop time.Duration, r cost.Rates, cd codec.Codec, hosts int) time.Duration {
	l := cost.Layout{Hosts: hosts, Local: 1}
	work := cost.Predict(r, coding(r, cd), int64(hosts*hopBytes), l).CPU
	return max(hop-work/time.Duration(ringSteps(hosts)), 0)
}

// launches are the options of bench allreduce for all cells of a round, one launch of
// the ranks after the other.
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

// launch are the options for the cells of some sizes.
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

// checked is what has been measured of a crew.
type checked struct {
	rate    float64   // bytes/s of a stream
	sockets []float64 // bytes/s that a core passes through the links
	hops    []time.Duration
	cells   []Row       // with the time of the first launch
	times   [][]float64 // of all launches, for each cell
}

// round measures the links and the sums once more, and adds that to m. Of rates the
// largest counts, for whatever else happens on the machine makes a wire slower, never
// faster.
func (c crew) round(ctx context.Context, check CheckConfig, m *checked) error {
	rate, sockets, err := c.streams(ctx)
	if err != nil {
		return err
	}
	m.rate, m.sockets = max(m.rate, rate), append(m.sockets, sockets)
	for _, args := range check.launches() {
		hop, err := c.hop(ctx, check.hopCodec())
		if err != nil {
			return err
		}
		rows, err := c.sums(ctx, args...)
		if err != nil {
			return err
		}
		m.hops = append(m.hops, hop)
		m.add(rows)
	}
	return nil
}

// add has the rows of a launch in m.
func (m *checked) add(rows []Row) {
	for _, r := range rows {
		i := slices.IndexFunc(m.cells, func(c Row) bool { return c.Bytes == r.Bytes && c.Codec == r.Codec })
		if i < 0 {
			i, m.cells, m.times = len(m.cells), append(m.cells, r), append(m.times, nil)
		}
		m.times[i] = append(m.times[i], r.Time)
	}
}

// medians are the cells with the median of their times: a pause makes one sum slower,
// and the next one faster, which has the shaper's burst.
func (m *checked) medians() []Row {
	rows := slices.Clone(m.cells)
	for i := range rows {
		rows[i].Time = median(m.times[i])
	}
	return rows
}

// median is the upper one of two in the middle.
func median[T cmp.Ordered](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

// streams returns how many bytes a second a stream has while all hosts send, and how
// many one core passes through the links, out and in: from the time of cores that a
// stream takes more than a shorter one, so that what programs take to begin and to end
// is not in it.
func (c crew) streams(ctx context.Context) (rate, sockets float64, err error) {
	var bytes, cores [2]float64
	for i, d := range [...]time.Duration{streamOf / 8, streamOf} {
		before := childrenTime()
		l, err := c.limit(ctx, fmt.Sprintf("--duration=%v", d))
		if err != nil {
			return 0, 0, err
		}
		rate = l.Rate * gigabyte
		bytes[i], cores[i] = rate*d.Seconds()*float64(len(c.Hosts)), (childrenTime() - before).Seconds()
	}
	return rate, perSecond(bytes[1]-bytes[0], cores[1]-cores[0]), nil
}

// perSecond is a rate, which is unlimited where n or the time was too small to be
// seen.
func perSecond(n, seconds float64) float64 {
	if n <= 0 || seconds <= 0 {
		return math.Inf(1)
	}
	return n / seconds
}

// hop returns the time of a small frame from host to host, with all that a rank does
// for it.
func (c crew) hop(ctx context.Context, cd codec.Codec) (time.Duration, error) {
	out, err := c.run(ctx, "allreduce", "--in-place", "--sizes="+SizeText(len(c.Hosts)*hopBytes), "--codec="+cd.String(),
		"--algorithm=ring", fmt.Sprintf("--budget=%v", hopBudget))
	if err != nil {
		return 0, err
	}
	return HopOf(out, len(c.Hosts))
}

// HopOf returns the time of a hop, from what bench allreduce --json prints of one
// small buffer that so many ranks sum by ring: in each step there is a frame from
// each rank to the next.
func HopOf(out []byte, ranks int) (time.Duration, error) {
	rows, err := rowsOf(out)
	if err != nil {
		return 0, err
	}
	return time.Duration(math.Round(rows[0].Time / float64(ringSteps(ranks)) * float64(time.Second))), nil
}

func ringSteps(ranks int) int { return 2 * (ranks - 1) }

// trial holds a forecast against a row.
func trial(w Wire, hosts int, r cost.Rates, row Row) (Trial, error) {
	cd, err := codec.Parse(row.Codec)
	if err != nil {
		return Trial{}, fmt.Errorf("bench: a row of the ranks: %w", err)
	}
	t := Trial{Forecast: ScaleConfig{}.forecast(w, row.Bytes, cd, hosts, r), Measured: row.Time}
	t.Error = t.Predicted/t.Measured - 1
	return t, nil
}

// sharedCores is what a rank gets of rates where so many share the cores.
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
