package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// environment is what a dialect may read. An empty variable counts as unset.
type environment struct {
	get   func(string) string
	names []string // of all variables, sorted
}

func newEnvironment(getenv func(string) string, environ []string) environment {
	e := environment{get: getenv}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && value != "" {
			e.names = append(e.names, name)
		}
	}
	slices.Sort(e.names)
	return e
}

// split tells which of names are set and which are not.
func (e environment) split(names ...string) (set, missing []string) {
	for _, name := range names {
		if e.get(name) != "" {
			set = append(set, name)
		} else {
			missing = append(missing, name)
		}
	}
	return set, missing
}

// any tells whether one of names is set.
func (e environment) any(names ...string) bool {
	set, _ := e.split(names...)
	return len(set) > 0
}

// under lists the variables that begin with prefix.
func (e environment) under(prefix string) []string {
	var found []string
	for _, name := range e.names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found
}

// integer reads a whole number of least or more, or returns none if it is not
// set.
func (e environment) integer(name string, least, none int) (int, error) {
	s := e.get(name)
	if s == "" {
		return none, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		return none, fmt.Errorf("%s is %q, want a whole number of %d or more", name, s, least)
	}
	return n, nil
}

// names4 are the variables of one dialect for the four numbers of a place.
type names4 struct{ rank, size, localRank, localSize string }

// numbers reads them. Rank and size must be set; the local ones may be.
func (e environment) numbers(n names4, p *Place) error {
	var err error
	if p.WorldSize, err = e.integer(n.size, 1, 0); err != nil {
		return err
	}
	if p.Rank, err = e.integer(n.rank, 0, -1); err != nil {
		return err
	}
	if p.Rank >= p.WorldSize {
		return fmt.Errorf("%s is %d, want 0 to %d: %s is %d", n.rank, p.Rank, p.WorldSize-1, n.size, p.WorldSize)
	}
	return e.localNumbers(n, p)
}

func (e environment) localNumbers(n names4, p *Place) error {
	var err error
	if p.LocalSize, err = e.integer(n.localSize, 1, 0); err != nil {
		return err
	}
	if p.LocalRank, err = e.integer(n.localRank, 0, -1); err != nil {
		return err
	}
	if p.LocalSize > p.WorldSize {
		return fmt.Errorf("%s is %d, want at most the world size, %d", n.localSize, p.LocalSize, p.WorldSize)
	}
	if p.LocalSize > 0 && p.LocalRank >= p.LocalSize {
		return fmt.Errorf("%s is %d, want 0 to %d: %s is %d", n.localRank, p.LocalRank, p.LocalSize-1, n.localSize, p.LocalSize)
	}
	return nil
}

// halfSet is the error of a dialect of which only a part is there.
func halfSet(set, missing []string) error {
	return fmt.Errorf("%s set, %s missing: set all of them or none", are(set), are(missing))
}

func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}
