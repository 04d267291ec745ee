package input

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ringtrain/ring/exitcode"
)

// Choose returns the files of a place that a pattern of [SplitPattern] matches, in bytewise order of their paths; the
// empty pattern matches all. paths are those of all files below the place, with slashes, as a walk of a folder or a
// listing of objects has them.
//
// Names that begin with a dot or an underscore do not count, of files and of folders: tools leave such files beside the
// data. A pattern that begins a name so matches them.
//
// A place with a file of a table that has removed files, too, is exitcode.BadData.
func Choose(place, pattern string, paths []string) ([]string, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	var chosen []string
	for _, p := range paths {
		if (pattern == "" || doublestar.MatchUnvalidated(pattern, p)) && !strings.HasSuffix(p, "/") && !isHidden(p, pattern) {
			chosen = append(chosen, p)
		}
	}
	slices.Sort(chosen)
	for _, p := range paths {
		if table, kind := tableOf(p); kind != "" && slices.ContainsFunc(chosen, func(p string) bool { return strings.HasPrefix(p, table) }) {
			return nil, tableError(path.Join(place, table), kind)
		}
	}
	return chosen, nil
}

// SplitPattern cuts a pattern, which has slashes, into the folder before its first wildcard, without a slash at its end,
// and the rest. There is no rest without wildcards.
func SplitPattern(pattern string) (folder, rest string) {
	if !strings.ContainsAny(pattern, `*?[{\`) {
		return pattern, ""
	}
	if folder, rest = doublestar.SplitPattern(pattern); folder == "." && !strings.HasPrefix(pattern, "./") {
		folder = ""
	}
	return folder, rest
}

// checkPattern returns the error of a malformed pattern.
func checkPattern(pattern string) error {
	if doublestar.ValidatePattern(pattern) {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("input pattern %s: %w", pattern, doublestar.ErrBadPattern))
}

// isHidden reports whether a name of a path begins with a dot or an underscore, and no name of the pattern that
// matches it does.
func isHidden(p, pattern string) bool {
	for name := range strings.SplitSeq(p, "/") {
		if name == "" || name[0] != '.' && name[0] != '_' {
			continue
		}
		asked := false
		for part := range strings.SplitSeq(pattern, "/") {
			asked = asked || strings.HasPrefix(part, name[:1]) && doublestar.MatchUnvalidated(part, name)
		}
		if !asked {
			return true
		}
	}
	return false
}

// tableMarks are the names in a table that say its kind. Its folders have removed files, too.
var tableMarks = [...]struct{ folder, suffix, kind string }{
	{"_delta_log", "", "Delta Lake"},
	{"metadata", ".metadata.json", "Iceberg"},
}

// tableOf returns the folder, with a slash at its end unless it is the place itself, and the kind of the table to which
// a path belongs that says its kind.
func tableOf(p string) (folder, kind string) {
	dir, name := path.Split(p)
	parent, in := path.Split(strings.TrimSuffix(dir, "/"))
	for _, m := range tableMarks {
		if in == m.folder && strings.HasSuffix(name, m.suffix) {
			return parent, m.kind
		}
	}
	return "", ""
}

// tableError is the error of a table that is read as a folder.
func tableError(folder, kind string) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("input %s is a table of %s, whose folder has removed files, too: write its rows into a folder of their own", folder, kind))
}
