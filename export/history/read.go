package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// A Run is what a history tells of a run.
type Run struct {
	Name    string           // for people: of the folder, or of the file
	Path    string           // of the file
	Events  []report.Stamped // of all attempts, in the order of the file
	Running bool             // a process holds the lease of the folder; the caller sets it
}

// Read reads the history of a folder of checkpoints, a history, or lines of --json that were saved.
func Read(path string) (*Run, error) {
	var r Run
	var t thinner
	file, err := Each(path, func(s report.Stamped) { r.Events = append(r.Events, t.add(s)...) })
	if err != nil {
		return nil, err
	}
	r.Events = append(r.Events, t.sums()...)
	if len(r.Events) == 0 {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("%s: has no event of a run", file))
	}
	r.Name, r.Path = nameOf(file), file
	return &r, nil
}

// Each hands over the events of what Read reads, one by one. It returns the name of the file.
func Each(path string, take func(report.Stamped)) (file string, err error) {
	file = path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, File)
	}
	if info, err := os.Stat(file); err == nil && filepath.Base(file) == File && !info.Mode().IsRegular() {
		return file, exitcode.With(exitcode.NoInput, fmt.Errorf("%s is no file", file)) // a pipe would be waited for
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: no history: want a job, a folder of checkpoints with %s, or lines that --json has written", path, File)
	}
	if err != nil {
		return file, exitcode.With(exitcode.NoInput, err)
	}
	defer f.Close()
	_, err = scan(f, file, take)
	return file, err
}

// nameOf returns the name of the folder of a history, or of a file of saved lines.
func nameOf(file string) string {
	if at, err := filepath.Abs(file); err == nil {
		file = at // "." has a name, too
	}
	if filepath.Base(file) == File {
		return filepath.Base(filepath.Dir(file))
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}
