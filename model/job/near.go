package job

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/ring/phrase"
)

// Near returns the job that a misspelt word was probably meant to be, "" for none: with files a job
// file in the folder of word that has the word's name, else the built-in job or job file whose name is
// similar.
func Near(word string, files bool) string {
	dir, base := filepath.Split(word)
	base = jobStem(base)
	var names []string
	if dir == "" {
		names = BuiltinNames()
	}
	builtin := len(names)
	var paths []string // of the names behind the built-in jobs
	if files {
		entries, _ := os.ReadDir(filepath.Clean(dir)) // a folder that cannot be read has no names to suggest
		for _, e := range entries {
			stem := jobStem(e.Name())
			if stem == e.Name() || stem == "" || e.IsDir() {
				continue
			}
			if stem == base {
				return dir + e.Name()
			}
			names, paths = append(names, stem), append(paths, dir+e.Name())
		}
	}
	near := slices.Index(names, phrase.Nearest(base, names))
	switch {
	case near < 0:
		return ""
	case near < builtin:
		return names[near]
	}
	return paths[near-builtin]
}

// jobStem returns the name of a job file without its ending, and any other name as it is.
func jobStem(name string) string {
	if stem, ok := strings.CutSuffix(name, ".yaml"); ok {
		return stem
	}
	return strings.TrimSuffix(name, ".yml")
}
