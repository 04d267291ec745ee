package serving

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// folder is a version folder of a base.
type folder struct {
	number int64
	path   string
	twin   string // another folder of the same number; "": none
}

// list returns the version folders of a base, by number, ascending. Links to folders count.
func list(base string) ([]folder, error) {
	entries, err := os.ReadDir(base) // by name
	if err != nil {
		return nil, err
	}
	var all []folder
	for _, e := range entries {
		n, ok := versionNumber(e.Name())
		path := filepath.Join(base, e.Name())
		if ok && isFolder(path) {
			all = append(all, folder{number: n, path: path})
		}
	}
	slices.SortStableFunc(all, func(a, b folder) int { return cmp.Compare(a.number, b.number) })
	return joinTwins(all), nil
}

// joinTwins makes one of the folders with equal numbers, which stand side by side.
func joinTwins(sorted []folder) []folder {
	var all []folder
	for _, f := range sorted {
		if last := len(all) - 1; last >= 0 && all[last].number == f.number {
			all[last].twin = f.path
			continue
		}
		all = append(all, f)
	}
	return all
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxFiles bounds the files of a version folder that a fingerprint looks at.
const maxFiles = 10_000

// fingerprint returns a sum of the names, sizes and times of the files in a version folder. It
// changes when a file does. What cannot be read is part of the sum.
func (f folder) fingerprint() uint64 {
	sum, files := fnv.New64a(), 0
	note := func(name string, _ fs.DirEntry, err error) error {
		files++
		if files > maxFiles {
			return fs.SkipAll
		}
		info, statErr := os.Stat(name)
		if statErr == nil {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		fmt.Fprintln(sum, err, statErr)
		return nil
	}
	for _, path := range []string{f.path, f.twin} {
		if path != "" {
			filepath.WalkDir(path+string(filepath.Separator), note) // the separator follows a link
		}
	}
	return sum.Sum64()
}
