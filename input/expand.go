package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Expand returns the files that match file names and glob patterns (those of
// filepath.Match), in the order of the patterns and sorted within a pattern.
//
// A file that several of them match is there once, by its path; notice, unless nil, says so.
//
// Expand searches a relative pattern in each root in turn; the first root with a match
// gives all files of the pattern. Without roots it searches the working directory. A
// name that exists is a file, even if it looks like a pattern. Folders do not match a
// pattern.
//
// A pattern without a match, a malformed one and a folder are errors that name every
// searched location. Expand returns all errors at once. Their code is exitcode.NoInput,
// and exitcode.Usage for a malformed pattern.
func Expand(roots, patterns []string, notice func(string)) ([]string, error) {
	var files []string
	var faults []error
	for _, p := range patterns {
		found, err := expand(roots, p)
		files, faults = append(files, found...), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	return once(files, notice), nil
}

// once returns files without those that are there already.
func once(files []string, notice func(string)) []string {
	seen := make(map[string]bool, len(files))
	var again []string
	unique := files[:0]
	for _, f := range files {
		path, err := filepath.Abs(f)
		if err != nil {
			path = filepath.Clean(f)
		}
		if seen[path] {
			again = append(again, f)
			continue
		}
		seen[path] = true
		unique = append(unique, f)
	}
	if len(again) > 0 && notice != nil {
		names := again[0]
		if n := len(again) - 1; n > 0 {
			names += " and " + phrase.Count(n, "other")
		}
		notice("files that are named twice are read once: " + names)
	}
	return unique
}

// place is a pattern in one root. fixed is the part without wildcards.
type place struct{ fixed, pattern string }

func (p place) String() string { return filepath.Join(p.fixed, p.pattern) }

func expand(roots []string, pattern string) ([]string, error) {
	var looked []string
	for _, p := range places(roots, pattern) {
		files, err := p.files()
		if err != nil || len(files) > 0 {
			return files, err
		}
		looked = append(looked, p.String())
	}
	if len(looked) == 1 && looked[0] == pattern {
		return nil, fmt.Errorf("no input file %s", pattern)
	}
	return nil, fmt.Errorf("no input file %s; looked for %s", pattern, strings.Join(looked, ", "))
}

func places(roots []string, pattern string) []place {
	if filepath.IsAbs(pattern) || len(roots) == 0 {
		return []place{{"", pattern}}
	}
	all := make([]place, len(roots))
	for i, root := range roots {
		all[i] = place{root, pattern}
	}
	return all
}

// files returns the matches of p: the file of that name, or the files of the pattern.
func (p place) files() ([]string, error) {
	name := p.String()
	if p.pattern == "" {
		return nil, fmt.Errorf("input file has an empty name")
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("input %s is a folder, want a file or a pattern such as %s", name, filepath.Join(name, "*"))
	case err == nil:
		return []string{name}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("input file: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(literal(p.fixed), p.pattern))
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("input pattern %s: %w", p.pattern, err))
	}
	var files []string
	for _, n := range names {
		if info, err := os.Stat(n); err != nil || !info.IsDir() {
			files = append(files, n) // opening reports a file that disappears
		}
	}
	return files, nil
}

// literal escapes the wildcards in dir.
func literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ExpandFolder returns the folder called name in the first root that has it. The code of
// its errors is exitcode.NoInput.
func ExpandFolder(roots []string, name string) (string, error) {
	if name == "" {
		return "", exitcode.With(exitcode.NoInput, errors.New("input folder has an empty name"))
	}
	var looked []string
	for _, p := range places(roots, name) {
		info, err := os.Stat(p.String())
		switch {
		case err == nil && info.IsDir():
			return p.String(), nil
		case err == nil:
			return "", exitcode.With(exitcode.NoInput, fmt.Errorf("input %s is a file, want a folder", p))
		case !errors.Is(err, fs.ErrNotExist):
			return "", exitcode.With(exitcode.NoInput, fmt.Errorf("input folder: %w", err))
		}
		looked = append(looked, p.String())
	}
	return "", exitcode.With(exitcode.NoInput, fmt.Errorf("no input folder %s; looked for %s", name, strings.Join(looked, ", ")))
}

// ExpandOne is Expand of one file.
func ExpandOne(roots []string, name string) (string, error) {
	files, err := Expand(roots, []string{name}, nil)
	if err != nil {
		return "", err
	}
	if len(files) > 1 {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("%s matches %d files, want one", name, len(files)))
	}
	return files[0], nil
}

// ExpandText is Expand, but a folder stands for its files. Files whose names begin with
// a dot or an underscore do not count; tools leave such files beside the data.
func ExpandText(roots, patterns []string, notice func(string)) ([]string, error) {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = p
		if dir, err := ExpandFolder(roots, p); err == nil && !isFile(roots, p) {
			if abs, err := filepath.Abs(dir); err == nil {
				all[i] = filepath.Join(literal(abs), "[^._]*")
			}
		}
	}
	return Expand(roots, all, notice)
}

// isFile reports whether a file called name is in a root before the first folder of that
// name.
func isFile(roots []string, name string) bool {
	for _, p := range places(roots, name) {
		if info, err := os.Stat(p.String()); err == nil {
			return !info.IsDir()
		}
	}
	return false
}
