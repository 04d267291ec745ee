package serving

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/export/bundle"
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
	full, err := filepath.Abs(path)
	if err == nil {
		_, err = os.ReadDir(full)
	}
	if err != nil {
		return nil, cmp.Or(bundle.KerasFile(path), exitcode.With(exitcode.NoInput, fmt.Errorf("want a folder of models: %w", err)))
	}
	if _, err := os.Stat(filepath.Join(full, "saved_model.pb")); err == nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s is one version of a model, want its base: %s", path, filepath.Dir(full)))
	}
	d := &Directory{path: full, as: as, found: map[string]string{}}
	if all, _ := d.Bases(); len(all) > 1 && as.Name != "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--name is %s, and %s has %d models; want the base of one", as.Name, path, len(all)))
	}
	return d, nil
}

// Bases returns the models that are there or were, by name. It looks into the folder.
func (d *Directory) Bases() ([]Base, error) {
	own := filepath.Base(d.path)
	d.find(own, d.path)
	var entries []os.DirEntry
	var err error
	if d.found[own] != d.path { // it is no base itself
		entries, err = os.ReadDir(d.path)
		for _, e := range entries {
			if e.Name()[0] != '.' { // hidden, such as ..data, where Kubernetes keeps what it mounts
				d.find(e.Name(), filepath.Join(d.path, e.Name()))
			}
		}
	}
	if err == nil && len(d.found) == 0 {
		err = fmt.Errorf("no version of a model lies in %s, want %s, as an export of ringtrain or of Keras is", d.path, filepath.Join(d.path, "1", "saved_model.pb"))
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "step-") }) {
			err = fmt.Errorf("%s has checkpoints and no version of a model: ringtrain export JOB --to DIR makes a version of a checkpoint", d.path)
		}
		for _, e := range entries {
			err = cmp.Or(bundle.KerasFile(filepath.Join(d.path, e.Name())), err)
		}
	}
	var all []Base
	for _, name := range slices.Sorted(maps.Keys(d.found)) {
		all = append(all, Base{Name: name, Path: d.found[name], Policy: d.as.Policy, Labels: d.as.Labels})
	}
	if len(all) == 1 {
		all[0].Name = cmp.Or(d.as.Name, all[0].Name)
	}
	return all, err
}

// find notes a base if version folders lie there.
func (d *Directory) find(name, base string) {
	if versions, err := list(base); err == nil && len(versions) > 0 {
		d.found[name] = base
	}
}
