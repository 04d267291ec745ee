package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// runBenchScale predicts times.
func runBenchScale(a *app, c *cli.Context) error {
	config, err := scaleConfig(c)
	if err != nil {
		return err
	}
	a.ctx, _ = catchSignals(a.ctx, a.stderr)
	out := a.newReporter(c, 0)
	rates, err := bench.CoreRates(a.ctx, config.Codecs)
	if err != nil {
		return err
	}
	rates.Latency = c.Duration("latency")
	if !c.IsSet("latency") {
		if rates.Latency, err = a.loopbackHop(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out.People, ratesLine(rates))
	out.Head(bench.ScaleHead(config))
	return bench.Scale(config, rates, func(row []bench.Forecast) error {
		if !out.JSON {
			fmt.Fprintln(out.Stdout, bench.ScaleLine(row))
		}
		for _, f := range row {
			out.Emit(f)
		}
		return nil
	})
}

// ratesLine describes the rates of the predictions.
func ratesLine(r cost.Rates) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# from a hop of %v, and in GB/s of a core: sockets %.1f, add %.1f, copy %.1f", r.Latency, r.Sockets/1e9, r.Add/1e9, r.Memory/1e9)
	for _, k := range r.Codings {
		fmt.Fprintf(&b, ", %s %.1f and %.1f", k.Name, k.Encode/1e9, k.Decode/1e9)
	}
	return b.String()
}

// loopbackHop measures a TCP hop between two ranks on this host.
func (a *app) loopbackHop() (time.Duration, error) {
	var printed bytes.Buffer
	cfg := launch.Config{NP: 2, Env: a.environ, Output: launch.Output{Bare: true, Events: "1"}, Stdout: &printed, Stderr: a.rawErr}
	err := runSelf(&cfg, "bench", "allreduce", "--levels=flat", "--link=tcp", "--algorithm=ring", "--sizes=1KiB", "--in-place", "--budget=300ms")
	if err = cmp.Or(err, a.drawToken(&cfg)); err != nil {
		return 0, err
	}
	res, err := a.launch(cfg, time.Minute)
	if err != nil {
		return 0, err
	}
	if res.Code != 0 {
		return 0, exitcode.With(res.Code, errors.New(res.Text))
	}
	return bench.HopOf(printed.Bytes(), cfg.NP)
}

// scaleConfig parses the options.
func scaleConfig(c *cli.Context) (bench.ScaleConfig, error) {
	s := bench.ScaleConfig{Hosts: c.Int("hosts")}
	var errs []error
	each := func(name string, read func(word string) error) {
		for word := range strings.SplitSeq(c.String(name), ",") {
			errs = append(errs, read(word))
		}
	}
	each("np", func(word string) error {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("-np has %q, want numbers such as 2,4,8", word)
		}
		s.Ranks = append(s.Ranks, n)
		return nil
	})
	each("bandwidth", func(word string) error {
		w, err := bench.ParseWire(word)
		s.Wires = append(s.Wires, w)
		if err != nil {
			err = fmt.Errorf("--bandwidth: %w", err)
		}
		return err
	})
	each("codec", func(word string) error {
		cd, err := codec.Parse(word)
		s.Codecs = append(s.Codecs, cd)
		if err != nil {
			err = fmt.Errorf("--codec: %w", err)
		}
		return err
	})
	each("sizes", func(word string) error {
		n, err := byteCount("--sizes", word)
		s.Sizes = append(s.Sizes, n)
		return err
	})
	var err error
	s.Algorithm, err = ring.ParseAlgorithm(c.String("algorithm"))
	if err != nil {
		errs = append(errs, fmt.Errorf("--%w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return s, exitcode.With(exitcode.Usage, err)
	}
	return s, s.Check()
}
