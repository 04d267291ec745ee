package look

import (
	"math/bits"
	"strings"

	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// A layout is a layout of dates in the form of a column's time.layout: auto is ISO 8601.
type layout struct {
	name string
	read *column.DateReader
}

// layouts are the layouts that are known; a bit of a set of layouts is a place here.
func layouts() (all []layout) {
	names := []string{graph.AutoLayout}
	for _, date := range []string{"%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y"} {
		names = append(names, date, date+" %H:%M", date+" %H:%M:%S")
	}
	for _, name := range names {
		read, err := column.NewDateReader(name)
		if err != nil {
			panic("look: a layout of dates that is none")
		}
		all = append(all, layout{name, read})
	}
	return all
}

// anyLayout is the set of all layouts.
const anyLayout = 1<<32 - 1

// A dater finds the layouts of dates.
type dater struct{ all []layout }

// layoutsOf returns which of some layouts a cell fits that is shaped as a date: none if it is no day, as
// 31 February.
func (d *dater) layoutsOf(cell []byte, some uint32) (fit uint32) {
	for i, l := range d.all {
		if some&(1<<i) != 0 && l.read.Reads(cell) {
			fit |= 1 << i
		}
	}
	return fit
}

// dateMarks are the marks between the numbers of a date.
const dateMarks = "-/."

// dateShaped reports whether a cell begins as a date does: three numbers with equal marks between them.
func dateShaped(cell []byte) bool {
	if len(cell) < 8 || len(cell) > 40 || cell[0] > '9' || cell[1] > '9' || cell[2] > '9' { // letters
		return false
	}
	at, mark := 0, byte(0)
	for part := range 3 {
		from := at
		for at < len(cell) && cell[at] >= '0' && cell[at] <= '9' {
			at++
		}
		switch n := at - from; {
		case n == 0 || n > 4 || n == 3:
			return false
		case part == 2:
			return at == len(cell) || cell[at] == ' ' || cell[at] == 'T'
		case at == len(cell) || strings.IndexByte(dateMarks, cell[at]) < 0 || part == 1 && cell[at] != mark:
			return false
		}
		mark = cell[at]
		at++
	}
	return false
}

// layoutNames returns the layouts that all cells of a column fit: none, one, or two where no day is above 12.
func (d *dater) layoutNames(fit uint32) (names []string) {
	for ; fit != 0; fit &= fit - 1 {
		if at := bits.TrailingZeros32(fit); at < len(d.all) {
			names = append(names, d.all[at].name)
		}
	}
	return names
}
