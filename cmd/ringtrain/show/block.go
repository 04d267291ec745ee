package show

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ringtrain/ring/phrase"
)

// A Shape says how large a terminal is, and of what it is capable. The zero value is that of a file: lines of any width.
type Shape struct {
	Columns, Rows   int
	Colour, Unicode bool
}

const (
	narrowColumns = 60 // below it the live block takes one line
	flatRows      = 10 // below it, too
	lineColumns   = 79 // of the first line of a larger block
	minBar        = 12
	gap           = "   "
)

// Colours, as escape codes take them.
const (
	green  = "32"
	yellow = "33"
)

// paint returns a text in a colour, where there are colours.
func (s Shape) paint(colour, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// header says what is trained, on what, and how.
func (s *runState) header(shape Shape) []string {
	separator := " · "
	if shape.Columns > 0 && !shape.Unicode {
		separator = " | "
	}
	e := s.start
	what := []string{e.Job, fmt.Sprintf("%s, %s parameters", e.Model, Commas(int64(e.Parameters))), Commas(e.Records) + " records"}
	if e.EvalRecords > 0 {
		what[2] += fmt.Sprintf(", %s to evaluate", Commas(e.EvalRecords))
	}
	how := []string{phrase.Count(e.WorldSize, "rank"), "batch " + Commas(int64(e.GlobalBatch)), Commas(e.Steps) + " steps"}
	if e.Steps == 1 {
		how[2] = "1 step"
	}
	if e.Epochs > 0 {
		how[2] = phrase.Count(int(e.Epochs), "epoch") + ", " + how[2]
	}
	if e.Hosts > 1 {
		how[0] += " on " + phrase.Count(e.Hosts, "host")
		wire := e.Codec
		if wire == "none" {
			wire = "float32"
		}
		how = append(how, wire+" between hosts")
	}
	if e.RestoredStep > 0 {
		how = append(how, "resumed at step "+Commas(e.RestoredStep))
	}
	return []string{strings.Join(what, separator), strings.Join(how, separator)}
}

// block returns the lines of the live block, none of which is wider than the terminal: how far the run is, what it has
// reached, how fast it is, and which rank holds it up.
func (s *runState) block(shape Shape) []string {
	width := shape.Columns - 1 // the last column makes some terminals wrap
	if shape.Columns < narrowColumns || shape.Rows < flatRows {
		return []string{s.flat(shape, width)}
	}
	epoch, reached := fmt.Sprintf("epoch %d", s.all.step.Epoch), "step "+Commas(s.all.step.Step)+gap+s.loss()
	if s.start.Epochs > 0 {
		epoch += fmt.Sprintf(" of %d", s.start.Epochs)
	}
	if metric := s.metric(); metric != "" {
		reached += gap + metric + " at step " + Commas(s.eval.Step)
	}
	right := fmt.Sprintf(" %3.0f %%  %s  %12s", 100*s.share(), epoch, s.left())
	first := s.bar(shape, min(width, lineColumns)-Width(right)) + right
	lines := []string{strings.TrimRight(first, " "), Cut(reached, width), Cut(s.speed(), width)}
	wait := s.hang
	if w := s.shown.straggler(); wait == "" && w != nil {
		wait = fmt.Sprintf("others wait %.0f %% of the time for rank %d", 100*w.Share, w.Rank)
		if s.start.Hosts > 1 {
			wait += " on " + phrase.Name(w.Host)
		}
	}
	if wait != "" {
		lines = append(lines, shape.paint(yellow, Cut(wait, width)))
	}
	return lines
}

// flat returns the block in one line: a short bar, and as many facts as fit, the most important ones first.
func (s *runState) flat(shape Shape, width int) string {
	done := fmt.Sprintf("%.0f %%", 100*s.share())
	line := "  " + done
	if Width(line) > width-minBar {
		return Cut(done, width)
	}
	for _, fact := range []string{s.left(), s.loss(), s.metric(), "step " + Commas(s.all.step.Step), s.rate()} {
		if Width(line)+2+Width(fact) > width-minBar {
			break
		}
		if fact != "" {
			line += "  " + fact
		}
	}
	return s.bar(shape, minBar) + line[1:]
}

// share returns the part of the run that is done.
func (s *runState) share() float64 { return float64(s.all.step.Step) / float64(s.all.step.Steps) }

// bar returns a bar in so many columns. Its head stands in the column that is under way.
func (s *runState) bar(shape Shape, columns int) string {
	left, done, head, right := "", "━", "╸", ""
	if !shape.Unicode {
		left, done, head, right = "[", "=", ">", "]"
	}
	columns -= len(left + right)
	bar := Cut(strings.Repeat(done, int(s.share()*float64(columns)))+head, columns)
	return left + shape.paint(green, bar) + strings.Repeat(" ", columns-Width(bar)) + right
}

// left says how long the run still takes, "" if it is at its end or nobody knows.
func (s *runState) left() string {
	left := time.Duration(s.all.step.Left)
	if left <= 0 {
		return ""
	}
	return lasting(max(left.Round(time.Second), time.Second)) + " left"
}

func (s *runState) loss() string { return "loss " + fourDigits(float64(s.shown.step.Loss)) }

// fourDigits returns a number with four digits behind the point, or four of its own if it is large or small.
func fourDigits(x float64) string {
	if abs := math.Abs(x); abs >= 0.001 && abs < 10 {
		return fmt.Sprintf("%.4f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

func (s *runState) rate() string { return Commas(int64(s.shown.step.ExamplesPerS)) + " examples/s" }

// metric returns the metric of the last evaluation that people follow: accuracy, AUC or RMSE; "" for none.
func (s *runState) metric() string {
	if s.eval != nil {
		for _, n := range s.eval.Numbers() {
			if slices.Contains([]string{"accuracy", "auc", "rmse"}, n.Name) {
				return fmt.Sprintf("%s %.4f", metricName(n.Name), n.Value)
			}
		}
	}
	return ""
}

// speed returns the rate and the parts of a step. One rank has no exchange.
func (s *runState) speed() string {
	if s.shown.step.Interval <= 0 {
		return s.rate()
	}
	parts := partsOf(s.shown.step)
	return s.rate() + gap + strings.Join(parts[:min(len(parts), s.start.WorldSize+1)], gap)
}

// lasting returns a duration with the units that people read: "690 ms", "10.1 s", "2 min 5 s", "3 h 12 min", "4 d 3 h".
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
