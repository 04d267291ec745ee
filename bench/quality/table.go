package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// good reports whether a run meets the bars of its entry.
func (e entry) good(o outcome) bool {
	switch {
	case o.err != nil:
		return false
	case e.optimum > 0:
		return o.objective >= e.optimum-below && o.objective <= e.optimum+near
	}
	return o.accuracy >= e.bar && o.auc >= e.auc && e.most.hold(o.limits)
}

// hold reports whether no figure is above its limit.
func (l limits) hold(o limits) bool {
	for _, p := range [][2]float64{{l.rmse, o.rmse}, {l.logLoss, o.logLoss}, {l.progressive, o.progressive}} {
		if p[0] > 0 && !(p[1] > 0 && p[1] <= p[0]) {
			return false
		}
	}
	return true
}

// words returns the figures of o that have a limit.
func (l limits) words(o limits) []string {
	var all []string
	for _, p := range []struct {
		name        string
		limit, told float64
	}{{"RMSE", l.rmse, o.rmse}, {"log loss", l.logLoss, o.logLoss}, {"progressive loss", l.progressive, o.progressive}} {
		if p.limit > 0 {
			all = append(all, fmt.Sprintf("%s %.4f", p.name, p.told))
		}
	}
	return all
}

// met reports whether all runs are good.
func (r row) met() bool {
	if r.optimum > 0 {
		for _, o := range r.on {
			if !r.good(o) {
				return false
			}
		}
		return len(r.on) > 0
	}
	return r.good(r.one) && (r.four == nil || r.good(*r.four)) && (r.drawn == nil || r.good(*r.drawn))
}

// cell describes a run in a cell of the table.
func (e entry) cell(o outcome) string {
	took := o.took.Round(100 * time.Millisecond)
	switch {
	case o.err != nil:
		return "FAILED (" + o.err.Error() + ")"
	case e.optimum > 0:
		return fmt.Sprintf("%+.1e%s in %v", o.objective-e.optimum, e.mark(o), took)
	}
	return strings.Join(e.figures(o), ", ") + fmt.Sprintf("%s in %v", e.mark(o), took)
}

// figures returns the figures of an outcome that have a bar.
func (e entry) figures(o outcome) []string {
	var all []string
	if e.bar > 0 || e.auc > 0 {
		all = append(all, fmt.Sprintf("%.4f", o.accuracy))
	}
	if e.auc > 0 || e.reported {
		all = append(all, fmt.Sprintf("AUC %.4f", o.auc))
	}
	most := e.most
	if e.reported {
		most.logLoss = 1
	}
	return append(all, most.words(o.limits)...)
}

// wants describes the bars.
func (e entry) wants() string {
	var all []string
	if e.bar > 0 {
		all = append(all, fmt.Sprintf("%.3f", e.bar))
	}
	if e.auc > 0 {
		all = append(all, fmt.Sprintf("AUC %.3f", e.auc))
	}
	for _, limit := range e.most.words(e.most) {
		all = append(all, "at most "+limit)
	}
	if e.reported {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (e entry) mark(o outcome) string {
	if e.good(o) {
		return ""
	}
	return " SHORT"
}

// table returns the quality table as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| data, model | bar | 1 rank, median of 3 seeds | 4 ranks | drawn records | |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		if r.optimum > 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %s | %s | %s | %s |\n", r.name, r.text, r.wants(), r.cell(r.one), r.maybe(r.four), r.maybe(r.drawn), state(r))
	}
	b.WriteString("\n| convex optimum | optimum | objective minus optimum, by ranks | |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		if r.optimum == 0 {
			continue
		}
		var cells []string
		for _, n := range slices.Sorted(maps.Keys(r.on)) {
			cells = append(cells, fmt.Sprintf("%d: %s", n, r.cell(r.on[n])))
		}
		fmt.Fprintf(&b, "| %s: %s | %.8f | %s | %s |\n", r.name, r.text, r.optimum, strings.Join(cells, "; "), state(r))
	}
	return b.String()
}

func (r row) maybe(o *outcome) string {
	if o == nil {
		return "-"
	}
	return r.cell(*o)
}

func state(r row) string {
	if r.reported && r.met() {
		return "reported"
	}
	if r.met() {
		return "met"
	}
	return "SHORT"
}
