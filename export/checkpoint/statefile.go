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

// maxText bounds the size of the state file and of a lease record.
const maxText = 1 << 20

// readBounded returns the first maxText bytes of a file.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText))
}

// maxNamed is the number of the state file's newest checkpoints that a reader considers.
// Older step folders are found in the directory.
const maxNamed = 1000

// formatState returns TensorFlow's CheckpointState as text for step folders from oldest
// to newest. Paths are relative, so that the folder can be moved.
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

// readState returns the checkpoints of dir's state file, newest first. Each is the name
// of a step folder or the prefix of another program. The error is fs.ErrNotExist if
// there is no state file.
func readState(dir string) ([]string, error) {
	name := filepath.Join(dir, stateFile)
	text, err := readBounded(name)
	if errors.Is(err, fs.ErrNotExist) {
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
		if step, ok := strings.CutSuffix(path, "/"+prefixName); ok && isStep(step) {
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
