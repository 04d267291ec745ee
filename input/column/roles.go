package column

import (
	"fmt"
	"slices"
)

// features returns the columns that an item makes a feature of, or reads as the weight.
func (c *Column) features() []string {
	var names []string
	switch {
	case c.Weight != nil:
		names = c.Weight.Names
	case c.Numeric != nil:
		names = c.Numeric.Names
	case c.Categorical != nil:
		names = c.Categorical.Names
	case c.IDs != nil:
		names, _ = expand(c.IDs.Names)
		return append(names, c.IDs.Values)
	case c.Cross != nil:
		return c.Cross.Of
	}
	names, _ = expand(names) // a wrong range is a fault of its item
	return names
}

// checkLabel returns an error for each item that reads the label: a model that is given the label
// learns nothing else.
func checkLabel(columns []Column) (errs []error) {
	for _, c := range columns {
		if c.Label == nil {
			continue
		}
		labels, _ := expand(c.Label.Names)
		for i := range columns {
			for _, name := range columns[i].features() {
				if slices.Contains(labels, name) {
					errs = append(errs, itemError(i, columns[i].kind(), fmt.Errorf("reads %s, which is the label, want a column that is one or the other", name)))
				}
			}
		}
	}
	return errs
}
