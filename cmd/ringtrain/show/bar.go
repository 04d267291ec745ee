package show

import (
	"os"
	"strconv"
	"strings"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

const (
	usualColumns = 80 // of a terminal that does not say its width
	leastBar     = 12 // columns of a bar, with its brackets
)

// columns returns the width of a terminal.
func columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usualColumns
}

// progressBar returns the facts of a step, "step 400 of 3000  epoch 2  …", behind a bar, in so many
// columns. Facts that do not fit are left out, the last ones first, and then the bar. Facts without
// an end, or that stand alone in a narrow terminal, have no bar.
func progressBar(facts string, width int) string {
	parts := strings.Split(facts, "  ")
	words := strings.Fields(parts[0])
	if len(words) != 4 {
		return cut(facts, width)
	}
	done, err1 := strconv.ParseInt(words[1], 10, 64)
	all, err2 := strconv.ParseInt(words[3], 10, 64)
	for len(parts) > 1 && len(strings.Join(parts, "  "))+1+leastBar > width {
		parts = parts[:len(parts)-1]
	}
	facts = strings.Join(parts, "  ")
	if err1 != nil || err2 != nil || all < 1 || len(facts)+1+leastBar > width {
		return cut(facts, width)
	}
	bar := pb.New64(all).SetTemplateString(`{{bar . "[" "=" ">" " " "]"}} {{string . "facts"}}`).SetWidth(min(width, len(facts)+1+3*leastBar))
	return bar.SetCurrent(done).Set("facts", facts).String()
}

// cut returns the first columns of a line.
func cut(line string, width int) string {
	shown := []rune(line)
	return string(shown[:min(len(shown), max(width, 0))])
}
