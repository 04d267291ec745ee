package state

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// An Offer lists the values that a worker has for one property, such as the kernel sets of its
// processor. All workers order the values alike. If one worker offers a name, all workers offer at
// least one value for it. A generation uses the highest value that all workers have; see
// ring.Choice.
type Offer struct {
	Name   string
	Values []string // ascending
}

// choose returns the choices of the members, which are in order of rank. It returns the cause of the
// job's end if the members have no common value.
func (s *regroupingState) choose() ([]ring.Choice, *ring.Cause) {
	workers, before := s.members, ring.Membership{Choices: s.known.Choices}
	var choices []ring.Choice
	for _, name := range offerNames(workers) {
		c := commonChoice(workers, name)
		if c.Value == "" {
			return nil, noCommonCause(workers, name)
		}
		if was := before.Choice(name).Value; was != c.Value {
			c.Was = was
		}
		choices = append(choices, c)
	}
	return choices, nil
}

// ChooseAlone returns the choices of a worker without others.
func ChooseAlone(offers []Offer) []ring.Choice {
	var choices []ring.Choice
	for _, o := range offers {
		j := Request{Offers: []Offer{o}}
		choices = append(choices, ring.Choice{Name: o.Name, Value: j.highest(o.Name), Lacks: -1})
	}
	return choices
}

// offerNames returns the names that any of the workers offers, in order of their ranks.
func offerNames(workers []*member) []string {
	var names []string
	for _, m := range workers {
		for _, o := range m.Offers {
			if !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// commonChoice returns the highest value that all workers offer, with an empty Value if there is
// none.
func commonChoice(workers []*member, name string) ring.Choice {
	c := ring.Choice{Name: name, Lacks: -1}
	for _, v := range slices.Backward(workers[0].offered(name)) {
		if firstWithout(workers, name, v) < 0 {
			c.Value = v
			break
		}
	}
	for _, m := range workers {
		if top := m.highest(name); top != c.Value {
			c.Lacks = firstWithout(workers, name, top)
			break
		}
	}
	return c
}

// firstWithout returns the first rank that does not offer value, -1 if all do.
func firstWithout(workers []*member, name, value string) int {
	for _, m := range workers {
		if !slices.Contains(m.offered(name), value) {
			return m.Rank
		}
	}
	return -1
}

// offered returns the values that the worker offers for name.
func (r *Request) offered(name string) []string {
	for _, o := range r.Offers {
		if o.Name == name {
			return o.Values
		}
	}
	return nil
}

// highest returns the highest value that the worker offers for name, "" if there is none.
func (r *Request) highest(name string) string {
	values := r.offered(name)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// noCommonCause returns the cause if no value of name is common to all workers. The cause names two
// workers without a common value if there are such two.
func noCommonCause(workers []*member, name string) *ring.Cause {
	for i, a := range workers {
		for _, b := range workers[:i] {
			if !slices.ContainsFunc(a.offered(name), func(v string) bool { return slices.Contains(b.offered(name), v) }) {
				text := fmt.Sprintf("%s: %s has %s and %s has %s, want one that all ranks have", name, b.label(), b.offerText(name), a.label(), a.offerText(name))
				return JoinCause(&a.Request, exitcode.Usage, text)
			}
		}
	}
	return JoinCause(&workers[0].Request, exitcode.Usage, fmt.Sprintf("%s: there is none that all %d ranks have", name, len(workers)))
}

func (r *Request) offerText(name string) string {
	if len(r.offered(name)) == 0 {
		return "none"
	}
	return phrase.Clip(strings.Join(r.offered(name), ", "), maxValueNamed)
}
