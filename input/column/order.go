package column

import (
	"fmt"
	"slices"
	"strings"
)

// Unordered says why cells of a column, compared as numbers or bytewise, are not in the order of what they stand for;
// "" if nothing says so. They may be dates of a layout that does not go from the year down, or numbers of a form of their
// own.
func Unordered(columns []Column, name string) string {
	has := func(names []string) bool {
		all, _ := Expand(names)
		return slices.Contains(all, name)
	}
	for i := range columns {
		c := &columns[i]
		decimal, strip := "", ""
		switch t, n, l, w := c.Time, c.Numeric, c.Label, c.Weight; {
		case t != nil && has(t.Names) && !descends(t.Layout):
			return "layout " + t.Layout
		case n != nil && has(n.Names):
			decimal, strip = n.Decimal, n.Strip
		case l != nil && has(l.Names):
			decimal, strip = l.Decimal, l.Strip
		case w != nil && has(w.Names):
			decimal, strip = w.Decimal, w.Strip
		}
		switch {
		case strip != "":
			return fmt.Sprintf("strip %q", strip)
		case decimal != "" && decimal != ".":
			return fmt.Sprintf("decimal %q", decimal)
		}
	}
	return ""
}

// descends reports whether the fields of a layout go from the year down.
func descends(layout string) bool {
	const fields = "YmdHMSfz"
	for i, last := 0, -1; i+1 < len(layout); i++ {
		if layout[i] != '%' {
			continue
		}
		i++
		at := strings.IndexByte(fields, layout[i])
		if at <= last || last < 0 && at > 0 {
			return false
		}
		last = at
	}
	return true
}
