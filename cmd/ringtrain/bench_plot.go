package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"ringtrain/bench"
	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// writePlot writes a plot to the file of --plot, if one is given.
func writePlot(path string, p bench.Plot) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := p.WriteSVG(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("--plot: %w", err))
	}
	return nil
}

// addPoint adds a point to the line of a name.
func addPoint(p *bench.Plot, name string, at bench.PlotPoint) {
	i := slices.IndexFunc(p.Lines, func(l bench.PlotLine) bool { return l.Name == name })
	if i < 0 {
		i = len(p.Lines)
		p.Lines = append(p.Lines, bench.PlotLine{Name: name})
	}
	p.Lines[i].Points = append(p.Lines[i].Points, at)
}

// addRow adds a row of all-reduce: the bus bandwidth over the size, a line for each codec.
func addRow(p *bench.Plot, r bench.Row) {
	p.Title, p.X, p.Y = "all-reduce of "+phrase.Count(r.Ranks, "rank"), "size of the buffer", "busbw, GB/s"
	addPoint(p, r.Codec, bench.PlotPoint{X: float64(r.Bytes), Y: r.BusBW, Label: bench.SizeText(r.Bytes)})
}

// addSettings adds the speed of a job: examples a second over the ranks, a line for each job
// and codec.
func addSettings(p *bench.Plot, rows []speed.Tried) {
	p.X, p.Y = "ranks", "examples/s"
	for _, r := range rows {
		at := bench.PlotPoint{X: float64(r.Ranks), Y: r.ExamplesPerS, Spread: r.Spread * r.ExamplesPerS, Label: fmt.Sprint(r.Ranks)}
		name := r.Job
		if r.Codec != "" {
			name += ", " + r.Codec
		}
		addPoint(p, name, at)
	}
}
