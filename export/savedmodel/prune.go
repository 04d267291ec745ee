package savedmodel

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"ringtrain/export/bundle"
)

// Prune removes the oldest versions under base, and keeps so many of the newest. A version is renamed
// before its files go: a server sees a whole version or none. Links and folders without a model are
// not ringtrain's, and stay. So does what cannot be removed, with a warning.
func Prune(disk *bundle.Disk, base string, keep int) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	type version struct {
		number int64
		path   string
	}
	var all []version
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		_, err := os.Stat(filepath.Join(path, modelFile))
		if number, ok := parseVersion(e.Name()); ok && e.IsDir() && err == nil {
			all = append(all, version{number, path})
		}
	}
	slices.SortStableFunc(all, func(a, b version) int { return cmp.Compare(b.number, a.number) }) // newest first
	for _, old := range all[min(keep, len(all)):] {
		gone := bundle.Temporary(filepath.Join(base, draftMark))
		if disk.Clean(old.path, func() error { return disk.Rename(old.path, gone) }) {
			disk.Discard(gone)
		}
	}
}
