package look

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// classesOf returns the classes of a label with the records of each: numbers by value, texts bytewise, and
// of two the rarer last. Numbers that are written in two ways are one class.
func classesOf(c *Column) []Value {
	var all []Value
	for _, v := range c.Values {
		if c.content == numbers {
			x, isNumber := number([]byte(v.Text))
			if !isNumber {
				continue // missing, or odd
			}
			v.Text = strconv.FormatFloat(x, 'f', -1, 64)
		}
		if at := slices.IndexFunc(all, func(o Value) bool { return o.Text == v.Text }); at >= 0 {
			all[at].Records += v.Records
			continue
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Value) int {
		if c.content == numbers {
			x, _ := number([]byte(a.Text))
			y, _ := number([]byte(b.Text))
			return cmp.Compare(x, y)
		}
		return strings.Compare(a.Text, b.Text)
	})
	if len(all) == 2 && all[0].Records < all[1].Records {
		all[0], all[1] = all[1], all[0]
	}
	return all
}
