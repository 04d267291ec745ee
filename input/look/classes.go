package look

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/input"
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

// settle ends the learning of the classes of a job: those that training records have. Labels of which it can learn none
// are a finding.
func (p *pass) settle(r *Report) {
	c := p.check
	if !c.labels.Names.Learns() {
		return
	}
	if err := c.labels.Names.Settle(nil); err != nil {
		f := Finding{Column: p.names[c.labelField()], What: err.Error(), Records: p.records, Fix: "labels of two classes or more; of a number no model.classes", Ends: true}
		r.Findings = append(r.Findings, f)
	}
}

// fewOfClass adds the classes of the training records of which validation records say little.
func (r *Report) fewOfClass(label string, all, eval []Value) {
	counted := map[string]int64{}
	if len(all) > mostClasses/5 {
		return
	}
	for _, v := range eval {
		counted[v.Text] = v.Records
	}
	for _, v := range all {
		if n := counted[v.Text]; n < leastOfClass {
			what := fmt.Sprintf("the class %s has fewer than %d validation records: its metrics are chance", v.Text, leastOfClass)
			r.Findings = append(r.Findings, Finding{Column: label, What: what, Records: n, Fix: "a larger share, or more validation records"})
		}
	}
}

// classRecords returns the classes of a job by their names or numbers, with the records of each; nil of a regression,
// of classes that could not be learnt, and if there are many.
func (p *pass) classRecords() (all []Value) {
	l := p.check.labels
	if l.Names.Learns() || l.Names == nil && l.Classes == 0 && !l.Binary {
		return nil
	}
	for _, v := range p.values[p.check.labelField()].list() {
		name, ok := className(l, v.Text)
		if !ok {
			continue // a fault, or missing
		}
		if at := slices.IndexFunc(all, func(o Value) bool { return o.Text == name }); at >= 0 {
			all[at].Records += v.Records
		} else {
			all = append(all, Value{name, v.Records})
		}
	}
	return all
}

// className returns the name or number of the class that a label is of.
func className(l input.Labels, label string) (string, bool) {
	if l.Names != nil {
		class, err := l.Names.Text([]byte(label))
		if err != nil {
			return "", false
		}
		return l.Names.Names()[int(class)], true
	}
	x, isNumber := number([]byte(label))
	class, err := l.Value(x)
	return strconv.FormatFloat(float64(class), 'f', -1, 32), isNumber && err == nil
}
