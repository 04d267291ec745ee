package savedmodel

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
)

// parseVersion returns the number of a version folder as a server parses it: "00000123"
// is 123. ok is false if the name is not a number.
func parseVersion(name string) (int64, bool) {
	v, err := strconv.ParseInt(name, 10, 64)
	return v, err == nil && v >= 0
}

// highest returns the entry of a base with the highest number, or 0 and "".
func highest(base string) (version int64, name string, err error) {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	for _, e := range entries {
		if v, ok := parseVersion(e.Name()); ok && (v > version || name == "") {
			version, name = v, e.Name()
		}
	}
	return version, name, nil
}

// next returns the number of the next version.
func next(base string) (int64, error) {
	v, _, err := highest(base)
	if err == nil && v == math.MaxInt64 {
		err = fmt.Errorf("version %d in %s leaves no number for another: %w", v, base, fs.ErrExist)
	}
	return v + 1, err
}
