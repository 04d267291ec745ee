package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// filesIn returns the files below a folder that a pattern matches.
func filesIn(folder, pattern string) ([]string, error) {
	if err := tableAbove(folder); err != nil {
		return nil, err
	}
	paths, err := walk(folder, pattern)
	if err != nil {
		return nil, err
	}
	files, err := Choose(folder, pattern, paths)
	for i, f := range files {
		files[i] = filepath.Join(folder, f)
	}
	return files, err
}

// walk returns the paths below a folder that the pattern may match, and those that say the kind of a table. Links are
// followed, but for one to a folder in which it lies, which is an error, as is a folder that cannot be read.
func walk(root, pattern string) ([]string, error) {
	w := &walker{root: cmp.Or(root, "."), pattern: pattern}
	info, err := os.Stat(w.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.IsDir() {
		err = w.folder("", []fs.FileInfo{info})
	}
	return w.paths, err
}

// walker lists the files below a folder.
type walker struct {
	root    string
	pattern string
	paths   []string
}

// folder lists a folder, which has the folders in which it lies, itself the last.
func (w *walker) folder(at string, within []fs.FileInfo) error {
	entries, err := os.ReadDir(filepath.Join(w.root, at))
	if err != nil {
		return fmt.Errorf("input folder: %w", err)
	}
	for _, e := range entries {
		p := at + e.Name()
		isLink := e.Type()&fs.ModeSymlink != 0
		if !e.IsDir() && !isLink {
			w.paths = append(w.paths, p)
			continue
		}
		info, err := os.Stat(filepath.Join(w.root, p))
		if err != nil || !info.IsDir() {
			w.paths = append(w.paths, p) // opening reports a link to nothing
			continue
		}
		if !w.enters(p) {
			continue
		}
		if isLink && slices.ContainsFunc(within, func(f fs.FileInfo) bool { return os.SameFile(f, info) }) {
			return fmt.Errorf("input folder %s is a link to a folder in which it lies", filepath.Join(w.root, p))
		}
		if err := w.folder(p+"/", append(within, info)); err != nil {
			return err
		}
	}
	return nil
}

// enters reports whether files of a folder may match the pattern, or say the kind of a table.
func (w *walker) enters(p string) bool {
	for _, m := range tableMarks {
		if path.Base(p) == m.folder {
			return true
		}
	}
	return !isHidden(p, w.pattern) && (w.pattern == "" || mayMatch(w.pattern, p))
}

// mayMatch reports whether a pattern may match a path in a folder.
func mayMatch(pattern, folder string) bool {
	parts := strings.Split(pattern, "/")
	for i, name := range strings.Split(folder, "/") {
		switch part := parts[i]; {
		case part == "**", strings.Count(part, "{") != strings.Count(part, "}"):
			return true
		case i == len(parts)-1 || !doublestar.MatchUnvalidated(part, name):
			return false
		}
	}
	return true
}

// tableAbove returns the error of a folder that is part of a table of which it is not the whole: one of a partition, or
// that of the data.
func tableAbove(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil
	}
	for strings.Contains(filepath.Base(folder), "=") || filepath.Base(folder) == "data" {
		folder = filepath.Dir(folder)
		for _, m := range tableMarks {
			if found, _ := filepath.Glob(filepath.Join(literal(folder), m.folder, "*"+m.suffix)); len(found) > 0 {
				return tableError(folder, m.kind)
			}
		}
	}
	return nil
}

// literal escapes the wildcards in dir.
func literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
