package bench

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// A Plot is a picture of measurements: lines over a logarithmic axis, from 0 upwards.
type Plot struct {
	Title string
	X, Y  string // names of the axes, with units
	Lines []PlotLine
}

// A PlotLine has a name and points in ascending order of X.
type PlotLine struct {
	Name   string
	Points []PlotPoint
}

// A PlotPoint is a measurement.
type PlotPoint struct {
	X, Y   float64 // both above 0
	Spread float64 // of Y, on both sides; 0: none is drawn
	Label  string  // of X
}

// Sizes of a plot, in pixels.
const (
	plotWidth, plotHeight = 720, 400
	plotLeft, plotRight   = 90, 130 // margins; the names of the lines are at the right
	plotTop, plotBottom   = 60, 60
	labelWidth            = 52 // of a label of X; one that stands closer to another is left out
)

// colours are those of Okabe and Ito, which people with colour blindness tell apart.
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// frame maps values to pixels.
type frame struct{ least, most, high float64 }

func (f frame) x(v float64) float64 {
	if f.most <= f.least {
		return plotLeft
	}
	return plotLeft + (plotWidth-plotLeft-plotRight)*math.Log(v/f.least)/math.Log(f.most/f.least)
}

func (f frame) y(v float64) float64 {
	return plotHeight - plotBottom - (plotHeight-plotTop-plotBottom)*v/f.high
}

// WriteSVG writes the plot as an SVG file, which needs no other file.
func (p Plot) WriteSVG(w io.Writer) error {
	var b strings.Builder
	text := func(x, y float64, anchor, words string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, html.EscapeString(words))
	}
	f := p.frame()
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\" aria-label=\"%s\">\n",
		plotWidth, plotHeight, html.EscapeString(p.Title))
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", plotWidth, plotHeight)
	text(plotLeft, 25, "start", p.Title)
	text((plotLeft+plotWidth-plotRight)/2, plotHeight-15, "middle", p.X)
	text(plotLeft, plotTop-16, "end", p.Y)
	for v := 0.0; v <= f.high*1.001; v += tick(f.high) {
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n", plotLeft, f.y(v), plotWidth-plotRight)
		text(plotLeft-8, f.y(v)+4, "end", fmt.Sprintf("%.12g", v))
	}
	labelled := math.Inf(-1) // where the last label of X stands
	for i, line := range p.Lines {
		colour := colours[i%len(colours)]
		var path strings.Builder
		for k, at := range line.Points {
			x, y := f.x(at.X), f.y(at.Y)
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
			fmt.Fprintf(&b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, colour)
			if at.Spread > 0 {
				fmt.Fprintf(&b, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>\n", x, f.y(at.Y+at.Spread), f.y(max(at.Y-at.Spread, 0)), colour)
			}
			if x >= labelled+labelWidth {
				labelled = x
				text(x, plotHeight-plotBottom+20, "middle", at.Label)
			}
		}
		fmt.Fprintf(&b, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path.String(), colour)
		text(plotWidth-plotRight+14, plotTop+10+20*float64(i), "start", line.Name)
		fmt.Fprintf(&b, "<path d=\"M%d %dh10\" stroke=\"%s\" stroke-width=\"4\"/>\n", plotWidth-plotRight, plotTop+6+20*i, colour)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// frame returns the frame that all points fit.
func (p Plot) frame() frame {
	f := frame{least: math.Inf(1), high: math.SmallestNonzeroFloat32}
	for _, line := range p.Lines {
		for _, at := range line.Points {
			f.least, f.most, f.high = min(f.least, at.X), max(f.most, at.X), max(f.high, at.Y+at.Spread)
		}
	}
	step := tick(f.high)
	f.high = math.Ceil(f.high/step) * step
	return f
}

// tick returns the distance of the marks of an axis up to high: 1, 2 or 5 times a power of ten, so that
// there are 4 to 10.
func tick(high float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(cmp.Or(high, 1)/4)))
	for _, times := range []float64{5, 2} {
		if high/(times*power) >= 4 {
			return times * power
		}
	}
	return power
}
