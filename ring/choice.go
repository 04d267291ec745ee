package ring

// A Choice is one thing that comes in several ways, as all workers of a generation have it: the
// highest way that each of them offers. So replicas agree bit for bit also where hosts differ.
type Choice struct {
	Name  string // of what is chosen, such as "kernels"
	Value string
	Was   string // Value in the generation before; "": the same, or there was none
	Lacks int    // the first rank that lacks the highest way which any worker offers; -1: no rank does
}

// Choice returns the choice of that name; its Value is "" if nobody has offered anything.
func (m Membership) Choice(name string) Choice {
	for _, c := range m.Choices {
		if c.Name == name {
			return c
		}
	}
	return Choice{Name: name, Lacks: -1}
}
