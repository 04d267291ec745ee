package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// maxText bounds the file checkpoint and a lease record, which hold a few lines.
const maxText = 1 << 20

// readBounded returns a file, of a longer one its beginning.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText))
}

// maxNamed is how many of its checkpoints count, from the newest on: each is looked for
// on the disk. Older ones are found there if they are step folders.
const maxNamed = 1000

// formatState returns TensorFlow's CheckpointState, as text, for step folders
// from oldest to newest. Paths are relative, so that the folder can be moved.
func formatState(steps []string) string {
	var b strings.Builder
	line := func(key, step string) {
		fmt.Fprintf(&b, "%s: %q\n", key, step+"/"+prefixName)
	}
	line("model_checkpoint_path", steps[len(steps)-1])
	for _, s := range steps {
		line("all_model_checkpoint_paths", s)
	}
	return b.String()
}

// readState returns the checkpoints that dir's state file names, from newest to
// oldest: the name of a step folder, or another program's prefix as it stands.
// It returns fs.ErrNotExist if there is no such file.
func readState(dir string) ([]string, error) {
	name := filepath.Join(dir, stateFile)
	text, err := readBounded(name)
	if isMissing(err) {
		return nil, err
	}
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	paths, err := parseState(string(text))
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", name, err))
	}
	return paths, nil
}

func parseState(text string) ([]string, error) {
	var newest string
	var paths []string
	for i, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if key == "" {
			continue
		}
		if key != "model_checkpoint_path" && key != "all_model_checkpoint_paths" {
			continue // time stamps
		}
		path, err := strconv.Unquote(strings.TrimSpace(value))
		if !ok || err != nil || path == "" {
			return nil, fmt.Errorf("line %d: want %s: \"a path\"", i+1, key)
		}
		if step, ok := stepOfPath(path); ok {
			path = step
		}
		if key == "model_checkpoint_path" {
			newest = path
		} else if path != newest {
			paths = append(paths, path)
		}
	}
	if newest == "" {
		return nil, errors.New("no model_checkpoint_path")
	}
	paths = append(paths, newest)
	slices.Reverse(paths)
	return paths[:min(len(paths), maxNamed)], nil
}

// stepOfPath returns the step folder of a path as formatState writes it.
func stepOfPath(path string) (string, bool) {
	step, ok := strings.CutSuffix(path, "/"+prefixName)
	return step, ok && isStep(step)
}

// isMissing reports whether there is no state file.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
