package serving

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ringtrain/ring/exitcode"
)

// Directory is a folder of models: the base of one, or a folder of bases. A model that was found once
// stays, whatever becomes of its folder.
type Directory struct {
	path  string
	as    Base              // name (of one model; "": that of the folder), policy and labels of each model
	found map[string]string // names of models to their bases
}

// NewDirectory returns the directory at path. Of as the path is not read.
func NewDirectory(path string, as Base) (*Directory, error) {
	if !isFolder(path) {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("%s is no folder, want the base of a model, with version folders as %s", path, filepath.Join(path, "1")))
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	if _, err := os.Stat(filepath.Join(full, "saved_model.pb")); err == nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is one version of a model, want its base: %s", path, filepath.Dir(full)))
	}
	d := &Directory{path: full, as: as, found: map[string]string{}}
	if _, err := d.Bases(); exitcode.Of(err) == exitcode.Usage {
		return nil, err
	}
	return d, nil
}

// Bases returns the models that are there or were, by name. It looks into the folder.
func (d *Directory) Bases() ([]Base, error) {
	own, err := list(d.path)
	if err != nil {
		return nil, err
	}
	if len(own) > 0 {
		d.found[filepath.Base(d.path)] = d.path
	}
	if d.found[filepath.Base(d.path)] != d.path {
		if err := d.findBelow(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(d.found) == 0:
		return nil, fmt.Errorf("no version of a model lies in %s, want %s", d.path, filepath.Join(d.path, "1", "saved_model.pb"))
	case len(d.found) > 1 && d.as.Name != "":
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--name is %s, and %s has %d models; want the base of one", d.as.Name, d.path, len(d.found)))
	}
	var all []Base
	for _, name := range slices.Sorted(maps.Keys(d.found)) {
		all = append(all, Base{Name: cmp.Or(d.as.Name, name), Path: d.found[name], Policy: d.as.Policy, Labels: d.as.Labels})
	}
	return all, nil
}

// findBelow finds the folders in the directory that have version folders.
func (d *Directory) findBelow() error {
	entries, err := os.ReadDir(d.path)
	for _, e := range entries {
		base := filepath.Join(d.path, e.Name())
		if versions, err := list(base); err == nil && len(versions) > 0 {
			d.found[e.Name()] = base
		}
	}
	return err
}
