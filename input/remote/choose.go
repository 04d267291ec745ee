package remote

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// fixedPart returns what stands before the first wildcard of a key.
func fixedPart(key string) string {
	if i := strings.IndexAny(key, `*?[{\`); i >= 0 {
		return key[:i]
	}
	return key
}

// choose returns the objects of a listing that a key means: the object of that name, those of a pattern, or those below a
// folder. Names that begin with _ or . do not count, nor do the marks of empty folders.
func choose(all []*object, key, prefix string) ([]*object, error) {
	if i := slices.IndexFunc(all, func(o *object) bool { return o.key == key }); i >= 0 && !strings.HasSuffix(key, "/") {
		return all[i : i+1], nil
	}
	pattern := fixedPart(key) != key
	if pattern && !doublestar.ValidatePattern(key) {
		return nil, doublestar.ErrBadPattern
	}
	return slices.DeleteFunc(all, func(o *object) bool {
		if strings.HasSuffix(o.key, "/") {
			return true
		}
		if pattern {
			return !doublestar.MatchUnvalidated(key, o.key)
		}
		return slices.ContainsFunc(strings.Split(strings.TrimPrefix(o.key, prefix), "/"), isHidden)
	}), nil
}

// isHidden reports whether tools leave such a name beside the data.
func isHidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }
