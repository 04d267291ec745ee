package records

import (
	"cmp"
	"fmt"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/train/report"
)

// Warnings returns what none of the records of a set has, which was counted over all of them: columns that
// are missing in each, vocabularies of which no text occurs, ids without input.columns, weights that are all 0, labels
// that are all equal. plan is nil without input.columns. Of records to predict the labels and weights are not looked at.
func Warnings(set string, plan *column.Plan, c *input.Counts, predicts bool) (all []report.Warning) {
	warn := func(column, what string, n int64) {
		cause := fmt.Sprintf("%s: %s is %s in %d of %d records", set, column, what, n, n)
		all = append(all, report.Warning{Operation: "input", Cause: cause, Set: set, Column: column, Records: n, Of: n})
	}
	label := "label"
	if plan != nil {
		plan.Absent(cmp.Or(c.Whole, c), func(input int, what string, n int64) {
			if !predicts || plan.Predicts(input) {
				warn(plan.Inputs[input], what, n)
			}
		})
		if plan.Label >= 0 {
			label = plan.Inputs[plan.Label]
		}
	} else if c.NoIDs > 0 && c.NoIDs == c.Records {
		warn("ids", "missing", c.NoIDs)
	}
	if !predicts && c.Labels == 0 && c.Records > 0 {
		weight := "weight"
		if plan != nil && plan.Weight >= 0 {
			weight = plan.Inputs[plan.Weight]
		}
		warn(weight, "0", c.Records)
	}
	if !predicts && c.Labels > 1 && c.Least == c.Largest {
		what := fmt.Sprint(c.Least)
		if plan != nil {
			what = plan.LabelText(c.Least)
		}
		warn(label, what, c.Labels)
	}
	return all
}

// Warnings returns those of a set that the opener has opened.
func (o *Opener) Warnings(set string, c *input.Counts, predicts bool) []report.Warning {
	return Warnings(set, o.plan, c, predicts)
}
