package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Expand returns the files that names, folders and patterns mean, in their order, and in bytewise order of paths within
// one. A folder means all files in it, and in its folders. A pattern has the wildcards of filepath.Match, and ** for any
// folders; it does not match folders. Which names count, and which folders are refused, is said by [Choose].
//
// A file that several of them match is there once, by its path; notice, unless nil, says so.
//
// Expand searches a relative name in each root in turn; the first root with a match gives all files of it. Without
// roots it searches the working directory. A name that exists is that, even if it looks like a pattern.
//
// A name without a match and a malformed pattern are errors that name every searched location. Expand returns all errors
// at once. Their code is exitcode.NoInput, but exitcode.Usage for a malformed pattern, and that of Choose.
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

// files returns the matches of p: the file of that name, the files of the folder, or those of the pattern.
func (p place) files() ([]string, error) {
	name := p.String()
	if p.pattern == "" {
		return nil, fmt.Errorf("input file has an empty name")
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		files, err := filesIn(name, "")
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("input folder %s has no files, but for those that a dot or an underscore begins", name)
		}
		return files, err
	case err == nil:
		return []string{name}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("input file: %w", err)
	}
	folder, rest := SplitPattern(path.Clean(p.pattern))
	if rest == "" {
		return nil, nil
	}
	if err := checkPattern(rest); err != nil {
		return nil, err
	}
	folder = filepath.Join(p.fixed, folder)
	files, err := filesIn(folder, rest)
	if err != nil || len(files) > 0 {
		return files, err
	}
	if in, err := filesIn(folder, rest+"/**"); err == nil && len(in) > 0 {
		return nil, fmt.Errorf("input %s matches folders alone, want %s", name, filepath.Join(name, "**"))
	}
	return nil, nil
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
	if folder, err := ExpandFolder(roots, name); err == nil {
		return "", exitcode.With(exitcode.NoInput, fmt.Errorf("input %s is a folder, want a file", folder))
	}
	files, err := Expand(roots, []string{name}, nil)
	if err != nil {
		return "", err
	}
	if len(files) > 1 {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("%s matches %d files, want one", name, len(files)))
	}
	return files[0], nil
}
