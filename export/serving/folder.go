package serving

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// folder is a version folder of a base.
type folder struct {
	number int64
	path   string
	twin   string // another folder of the same number; "": none
}

// list returns the version folders of a base, by number, ascending. Links to folders count.
func list(base string) ([]folder, error) {
	entries, err := os.ReadDir(base)
	byNumber := map[int64]folder{}
	for _, e := range entries {
		n, ok := versionNumber(e.Name())
		path := filepath.Join(base, e.Name())
		if info, err := os.Stat(path); ok && err == nil && info.IsDir() {
			byNumber[n] = folder{n, path, byNumber[n].path}
		}
	}
	return slices.SortedFunc(maps.Values(byNumber), func(a, b folder) int { return cmp.Compare(a.number, b.number) }), err
}

// versionNumber returns the number of a version folder, as TensorFlow Serving reads it: "00000123" is 123.
func versionNumber(name string) (int64, bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0 && name[0] != '+'
}

// fingerprint returns the fingerprint of the files in a version folder.
func (f folder) fingerprint() uint64 {
	const inside = string(filepath.Separator) // also of a link
	if f.twin != "" {
		return fingerprint(f.path+inside, f.twin+inside)
	}
	return fingerprint(f.path + inside)
}
