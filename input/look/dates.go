package look

import (
	"bytes"
	"math/bits"
	"time"
)

// A layout is a layout of dates in the form of a column's time.layout: auto is ISO 8601.
type layout struct {
	name string
	date string // of time.Parse
}

// layouts are the layouts that are known; a bit of a set of layouts is a place here.
func layouts() []layout {
	all := []layout{{name: "auto"}}
	for _, date := range [][2]string{
		{"%d/%m/%Y", "2/1/2006"}, {"%m/%d/%Y", "1/2/2006"}, {"%Y/%m/%d", "2006/1/2"}, {"%d.%m.%Y", "2.1.2006"}, {"%d-%m-%Y", "2-1-2006"},
	} {
		for _, clock := range [][2]string{{"", ""}, {" %H:%M", " 15:04"}, {" %H:%M:%S", " 15:04:05"}} {
			all = append(all, layout{date[0] + clock[0], date[1] + clock[1]})
		}
	}
	return all
}

// isoLayouts are the forms of ISO 8601 that auto takes.
var isoLayouts = [...]string{"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700"}

// anyLayout is the set of all layouts.
const anyLayout = 1<<32 - 1

// A dater finds the layouts of dates.
type dater struct{ all []layout }

// layoutsOf returns which of some layouts a cell fits that is shaped as a date: none if it is no day, as
// 31 February.
func (d *dater) layoutsOf(cell []byte, some uint32) (fit uint32) {
	s := string(cell)
	if cell[4] == '-' {
		if len(s) > 10 && s[10] == ' ' {
			s = s[:10] + "T" + s[11:]
		}
		for _, l := range isoLayouts {
			if _, err := time.Parse(l, s); err == nil {
				return some & 1
			}
		}
		return 0
	}
	for i, l := range d.all[1:] {
		if some&(2<<i) != 0 {
			if _, err := time.Parse(l.date, s); err == nil {
				fit |= 2 << i
			}
		}
	}
	return fit
}

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
		case at == len(cell) || bytes.IndexByte([]byte("-/."), cell[at]) < 0 || part == 1 && cell[at] != mark:
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
