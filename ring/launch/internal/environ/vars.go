package environ

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/phrase"
)

// Vars is an environment. A variable that is empty counts as unset.
type Vars struct {
	Get   func(string) string
	names []string // of all variables, sorted
}

// New returns the environment that getenv looks up in and that environ lists as
// NAME=value.
func New(getenv func(string) string, environ []string) Vars {
	e := Vars{Get: getenv}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && value != "" {
			e.names = append(e.names, name)
		}
	}
	slices.Sort(e.names)
	return e
}

// Split returns which of names are set and which are not.
func (v Vars) Split(names ...string) (set, missing []string) {
	for _, name := range names {
		if v.Get(name) != "" {
			set = append(set, name)
		} else {
			missing = append(missing, name)
		}
	}
	return set, missing
}

// Any reports whether one of names is set.
func (v Vars) Any(names ...string) bool {
	set, _ := v.Split(names...)
	return len(set) > 0
}

// WithPrefix returns the names of the variables that begin with prefix, sorted.
func (v Vars) WithPrefix(prefix string) []string {
	var found []string
	for _, name := range v.names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found
}

// Int returns the whole number in the variable name, which must be least or more. It
// returns none if the variable is not set.
func (v Vars) Int(name string, least, none int) (int, error) {
	s := v.Get(name)
	if s == "" {
		return none, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		return none, fmt.Errorf("%s is %q, want a whole number of %d or more", name, s, least)
	}
	return n, nil
}

// Incomplete returns the error of a dialect with only a part of its variables.
func Incomplete(set, missing []string) error {
	return fmt.Errorf("%s set, %s missing: set all of them or none", phrase.Are(set), phrase.Are(missing))
}
