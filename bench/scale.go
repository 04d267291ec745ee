package bench

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
)

// ScaleConfig configures the predictions of Scale.
type ScaleConfig struct {
	Ranks     []int // world sizes
	Hosts     int   // with equal numbers of ranks; 0: one rank per host
	Wires     []Wire
	Sizes     []int // of the buffer, in bytes
	Codecs    []codec.Codec
	Algorithm ring.Algorithm
}

// maxScaleRanks is the largest predicted world size.
const maxScaleRanks = 1 << 20

// Check returns all errors of c, as exitcode.Usage.
func (c ScaleConfig) Check() error {
	errs := []error{checkSizes(c.Sizes)}
	if len(c.Ranks) == 0 || len(c.Wires) == 0 || len(c.Codecs) == 0 {
		errs = append(errs, errors.New("ranks, wires or codecs are missing, want one or more of each"))
	}
	if c.Hosts < 0 {
		errs = append(errs, fmt.Errorf("--hosts is %d, want 0 or more", c.Hosts))
	}
	for _, p := range c.Ranks {
		switch {
		case p < 2 || p > maxScaleRanks:
			errs = append(errs, fmt.Errorf("-np has %d, want 2 to %d", p, maxScaleRanks))
		case c.Hosts > 0 && p%c.Hosts != 0:
			errs = append(errs, fmt.Errorf("-np has %d, want a multiple of the %d hosts", p, c.Hosts))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// A Forecast is the predicted time of an all-reduce. Its JSON form is a line of bench
// scale --json.
type Forecast struct {
	Bytes     int     `json:"bytes"`
	Ranks     int     `json:"ranks"`
	Hosts     int     `json:"hosts"`
	Wire      string  `json:"wire"`
	Codec     string  `json:"codec"`
	Algorithm string  `json:"algorithm"`
	Predicted float64 `json:"predicted_s"`
	BusBW     float64 `json:"busbw_gb_s"`
}

// Kind names the event.
func (Forecast) Kind() string { return "scale" }

// Scale predicts all-reduce for each wire, size and codec, and calls each with the
// forecasts for all world sizes, in order of c.Ranks. r has the measured rates. Scale
// replaces its Bandwidth by the wire's. r.Codings must have the codecs of c.Codecs
// except none.
//
// The forecast is for `bench allreduce` without error feedback on otherwise idle cores.
// Package cost has the model.
func Scale(c ScaleConfig, r cost.Rates, each func([]Forecast) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	for _, w := range c.Wires {
		for _, bytes := range c.Sizes {
			for _, cd := range c.Codecs {
				row := make([]Forecast, len(c.Ranks))
				for i, ranks := range c.Ranks {
					row[i] = c.forecast(w, bytes, cd, ranks, r)
				}
				if err := each(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c ScaleConfig) forecast(w Wire, bytes int, cd codec.Codec, ranks int, r cost.Rates) Forecast {
	l := cost.Layout{Hosts: ranks, Local: 1}
	if c.Hosts > 0 {
		l = cost.Layout{Hosts: c.Hosts, Local: ranks / c.Hosts}
	}
	r.Bandwidth = w.Rate / float64(l.Local)
	by, took := predict(c.Algorithm, r, cd, bytes, l)
	f := Forecast{Bytes: bytes, Ranks: ranks, Hosts: l.Hosts, Wire: w.Name, Codec: cd.String(), Algorithm: by}
	f.Predicted, _, f.BusBW = rates(bytes, ranks, took)
	return f
}

// predict returns the algorithm for a buffer in the layout l, and its predicted time.
func predict(a ring.Algorithm, r cost.Rates, cd codec.Codec, bytes int, l cost.Layout) (by string, took time.Duration) {
	n := int64(bytes)
	by = choice(a, cd, max(bytes/l.Local, 1), l)
	switch {
	case l.Hosts == 1:
		return "memory", cost.Predict(r, cost.None, n, l).Total
	case by == ring.ByDoubling.String():
		return by, cost.Doubling.Predict(r, n, l).Total
	case by == ring.ByHalving.String():
		return by, cost.Halving.Predict(r, n, l).Total
	}
	return by, cost.Predict(r, coding(r, cd), n, l).Total
}

// choice returns how the hosts of l sum a shard of the given bytes: the drivers of a shard are a
// worker of each host, with the tails of all its workers.
func choice(a ring.Algorithm, cd codec.Codec, bytes int, l cost.Layout) string {
	return a.Choose(l.Hosts, bytes, l.Local*ring.TailBytes, cd.ID() != codec.None.ID()).String()
}

// coding returns the rates of a codec in r.
func coding(r cost.Rates, cd codec.Codec) cost.Coding {
	if cd.ID() == codec.None.ID() {
		return cost.None
	}
	for _, c := range r.Codings {
		if c.Name == cd.String() {
			return c
		}
	}
	panic("bench: rates without a codec")
}

// ScaleHead returns the head of the table of ScaleLine lines.
func ScaleHead(c ScaleConfig) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%9s %9s %7s", "wire", "bytes", "ranks:")
	for _, p := range c.Ranks {
		fmt.Fprintf(&b, " %9d", p)
	}
	return b.String()
}

// ScaleLine returns a line of the table: the times of all world sizes.
func ScaleLine(row []Forecast) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%10s %9s %7s", row[0].Wire, SizeText(row[0].Bytes), row[0].Codec)
	for _, f := range row {
		fmt.Fprintf(&b, " %9s", timeText(f.Predicted))
	}
	return b.String()
}

// timeText formats seconds with three digits.
func timeText(seconds float64) string {
	for _, u := range []struct {
		name string
		of   float64
	}{{"us", 1e-6}, {"ms", 1e-3}} {
		if seconds < 999.5*u.of {
			return fmt.Sprintf("%.3g%s", seconds/u.of, u.name)
		}
	}
	return fmt.Sprintf("%.4gs", seconds)
}
