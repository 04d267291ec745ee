package main

import (
	"fmt"
	"os"
	"strings"

	"ringtrain/model/train"
)

// progressBar is one live line on a terminal: how far training is.
type progressBar struct {
	out   *os.File // nil: no terminal
	shown bool
}

const barWidth = 30

// show draws the bar for s. It returns false where there is no terminal.
func (b *progressBar) show(s train.Step) bool {
	if b.out == nil {
		return false
	}
	done := int(barWidth * s.Step / max(s.Steps, 1))
	bar := strings.Repeat("█", done) + strings.Repeat("·", barWidth-done)
	fmt.Fprintf(b.out, "\r\x1b[K%s %d/%d  loss %.4g  %.0f examples/s", bar, s.Step, s.Steps, s.Loss, s.ExamplesPerS)
	b.shown = true
	return true
}

// clear removes the bar, so that a line can be printed.
func (b *progressBar) clear() {
	if b.shown {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.shown = false
	}
}
