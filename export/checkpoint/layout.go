package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringtrain/export/bundle"
)

// The names in a folder of checkpoints.
const (
	stateFile      = "checkpoint"
	prefixName     = "model.ckpt"
	stepPrefix     = "step-"
	leasePrefix    = "lease-"
	replacedSuffix = ".replaced"
	temporary      = ".tmp-"
)

// stepName returns the name of a step's folder. copy is 0 for the plain name, 1 or more
// if lower names were taken, and -1 for the remains of a replacement by an older
// version.
func stepName(step int64, copy int) string {
	name := fmt.Sprintf("%s%06d", stepPrefix, step)
	switch {
	case copy > 0:
		name += "." + strconv.Itoa(copy)
	case copy < 0:
		name += replacedSuffix
	}
	return name
}

// parseStep is the inverse of stepName.
func parseStep(name string) (step int64, copy int, ok bool) {
	rest, ok := strings.CutPrefix(name, stepPrefix)
	if !ok {
		return 0, 0, false
	}
	digits, suffix, _ := strings.Cut(rest, ".")
	step, err := strconv.ParseInt(digits, 10, 64)
	copy, _ = strconv.Atoi(suffix)
	if "."+suffix == replacedSuffix {
		copy = -1
	}
	return step, copy, err == nil && step >= 0 && stepName(step, copy) == name
}

func isStep(name string) bool {
	_, _, ok := parseStep(name)
	return ok
}

// leaseName returns the name of an attempt's lease record.
func leaseName(attempt int64) string { return fmt.Sprintf("%s%06d", leasePrefix, attempt) }

// parseLease is the inverse of leaseName.
func parseLease(name string) (attempt int64, ok bool) {
	digits, ok := strings.CutPrefix(name, leasePrefix)
	if !ok {
		return 0, false
	}
	attempt, err := strconv.ParseInt(digits, 10, 64)
	return attempt, err == nil && attempt > 0 && leaseName(attempt) == name
}

// temporaryOf returns an unused name that readers ignore and that names its writer:
// name.tmp-XXXXXXXX-ATTEMPT.
func temporaryOf(path string, attempt int64) string {
	return bundle.Temporary(path) + "-" + strconv.FormatInt(attempt, 10)
}

// A leftover is an entry that is no longer needed, mostly a temporary and the attempt that
// wrote it.
type leftover struct {
	name    string
	of      string // the intended name
	attempt int64  // 0 for a writer without attempts
	lease   bool   // whether it is the temporary of a lease record
}

// parseLeftover is the inverse of temporaryOf, for the names that a Folder gives.
func parseLeftover(name string) (l leftover, ok bool) {
	before, after, ok := strings.Cut(name, temporary)
	if !ok {
		return leftover{}, false
	}
	l.name, l.of = name, before
	if _, digits, ok := strings.Cut(after, "-"); ok {
		l.attempt, _ = strconv.ParseInt(digits, 10, 64) // 0 for a name of another form
	}
	_, l.lease = parseLease(before)
	return l, l.lease || before == stateFile || isStep(before)
}

// listing is the content of a folder of checkpoints.
type listing struct {
	steps     []string // step folders
	leases    []int64  // attempts in ascending order
	leftovers []leftover
}

// list reads a folder. A missing folder is empty.
func list(dir string) (l listing, err error) {
	entries, err := os.ReadDir(dir) // sorted by name, not by number
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	for _, e := range entries {
		name := e.Name()
		if left, ok := parseLeftover(name); ok && e.Type()&fs.ModeSymlink == 0 {
			l.leftovers = append(l.leftovers, left)
		} else if attempt, ok := parseLease(name); ok {
			l.leases = append(l.leases, attempt)
		} else if e.IsDir() && isStep(name) {
			l.steps = append(l.steps, name)
		}
	}
	slices.Sort(l.leases)
	return l, err
}

// newestLease returns the highest attempt of a lease record, 0 if there is none.
func (l listing) newestLease() int64 {
	if len(l.leases) == 0 {
		return 0
	}
	return l.leases[len(l.leases)-1]
}

// isFolder reports whether path is a folder of checkpoints, not a step folder or a
// prefix.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Stat(filepath.Join(path, prefixName+".index"))
	return err != nil && !isStep(filepath.Base(path))
}

// prefix returns the bundle prefix of path, a step folder or a prefix.
func prefix(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, prefixName)
	}
	if isStep(filepath.Base(path)) {
		return filepath.Join(path, prefixName)
	}
	return path
}
