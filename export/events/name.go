package events

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	mark   = "tfevents" // part of the name of every event file
	prefix = "events.out." + mark + "."

	// maxSeconds is the largest time of ten digits, so that names sort by time.
	maxSeconds = 9_999_999_999
)

// IsFile reports whether path has the name of an event file.
func IsFile(path string) bool { return strings.Contains(filepath.Base(path), mark) }

// Files returns the event files of a folder in TensorBoard's reading order. A missing
// folder has none.
func Files(dir string) ([]string, error) {
	found, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range found {
		if !f.IsDir() && IsFile(f.Name()) {
			files = append(files, filepath.Join(dir, f.Name()))
		}
	}
	slices.Sort(files)
	return files, nil
}

// name returns the name of a new file that sorts after the files before, even if their
// clocks were ahead.
func name(before []string, now time.Time, host string, process int) string {
	seconds := now.Unix()
	for _, f := range before {
		if there, ok := secondsOf(f); ok && there < maxSeconds {
			seconds = max(seconds, there+1)
		}
	}
	host = strings.Map(func(r rune) rune {
		if r == filepath.Separator || r == 0 {
			return '-'
		}
		return r
	}, host)
	return fmt.Sprintf("%s%010d.%s.%d.0", prefix, seconds, host, process)
}

// secondsOf returns the time in a file's name.
func secondsOf(file string) (int64, bool) {
	rest, ok := strings.CutPrefix(filepath.Base(file), prefix)
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, ".")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	return seconds, err == nil
}
