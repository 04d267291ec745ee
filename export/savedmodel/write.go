package savedmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// The names in a version folder.
const (
	modelFile       = "saved_model.pb"
	variablesFolder = "variables"
	variablesPrefix = "variables"
	extraFolder     = "assets.extra"
	columnsFile     = "ringtrain_columns.json"
	jobFile         = "ringtrain_job.yaml"
)

// Extra are files that are written into the folder assets.extra of a version, by name. TensorFlow reserves
// the folder for what its loaders do not read.
type Extra map[string][]byte

// Check reports whether an export can be written under base, which need not exist yet.
// Call Check before training. The error has [exitcode.CannotCreate] and names the path
// and the reason. Check leaves nothing behind.
func Check(disk *bundle.Disk, base string) error {
	if err := bundle.Probe(disk, base); err != nil {
		return err
	}
	_, err := next(base)
	return bundle.Fault(err)
}

// Write exports a model as the next version under base, and returns its folder. If prove is not nil,
// Write calls it with the unpublished folder; its error stops the export and is returned as it is. What
// prove returns becomes part of the version.
//
// Write never overwrites anything, and leaves nothing behind when it fails. It removes
// the remains of killed exports. t must have exactly the graph's variables: a missing or
// superfluous variable or another shape is an error with [exitcode.BadData]. An error of
// the disk has the code of [bundle.Fault]. Write panics if the graph is invalid.
func Write(disk *bundle.Disk, base string, m *graph.Graph, t Trained, prove func(dir string) (Extra, error)) (path string, err error) {
	if err := checkVariables(variablesOf(m), t.Variables); err != nil {
		return "", err
	}
	b := build(m, t.Names)
	b.MetaGraphs[0].MetaInfoDef.MetaGraphVersion = t.Job // no loader reads it
	return writer{disk, base}.write(content{b, t, m.Columns}, prove)
}

type writer struct {
	fs   *bundle.Disk
	base string
}

// write makes the base if it is missing, and removes it again after an error.
func (w writer) write(c content, prove func(dir string) (Extra, error)) (path string, err error) {
	made, err := bundle.MkdirAll(w.fs, w.base)
	defer func() {
		if err != nil {
			for _, dir := range made { // Remove refuses folders that are not empty
				_ = w.fs.Remove(dir)
			}
		}
	}()
	if err != nil {
		return "", bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	w.sweep()
	d, err := w.newDraft()
	if err != nil {
		return "", bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	defer d.close()
	tmp := d.path
	defer func() {
		if err != nil {
			w.fs.Discard(tmp)
		}
	}()
	if err = w.files(tmp, c); err != nil {
		return "", bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	extra, err := c.extra()
	if err == nil && prove != nil {
		var proof Extra
		if proof, err = prove(tmp); err != nil {
			return "", err
		}
		maps.Copy(extra, proof)
	}
	if err == nil {
		err = w.extra(tmp, extra)
	}
	if err != nil {
		return "", bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	if path, err = w.publish(tmp); err != nil {
		return "", bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	return path, nil
}

// content is the content of a version.
type content struct {
	model   *tfpb.SavedModel
	trained Trained
	columns *graph.Columns // nil for none
}

// files writes and syncs all files of a version into the empty folder dir.
func (w writer) files(dir string, c content) error {
	variables := filepath.Join(dir, variablesFolder)
	if err := w.fs.Mkdir(variables); err != nil {
		return err
	}
	if _, err := bundle.Write(w.fs, filepath.Join(variables, variablesPrefix), c.trained.tensors()); err != nil {
		return err
	}
	if err := bundle.WriteFile(w.fs, filepath.Join(dir, modelFile), marshal(c.model)); err != nil {
		return err
	}
	return w.fs.SyncDir(variables)
}

// extra returns the description of raw records and the job file, for readers that do not run the graph.
func (c content) extra() (Extra, error) {
	files := Extra{}
	if c.trained.JobFile != nil {
		files[jobFile] = c.trained.JobFile
	}
	if c.columns == nil {
		return files, nil
	}
	text, err := json.Marshal(c.columns)
	files[columnsFile] = text
	return files, err
}

// extra writes and syncs the last files of a version, and the folder.
func (w writer) extra(dir string, files Extra) error {
	if len(files) > 0 {
		extra := filepath.Join(dir, extraFolder)
		if err := w.fs.Mkdir(extra); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := bundle.WriteFile(w.fs, filepath.Join(extra, name), files[name]); err != nil {
				return err
			}
		}
		if err := w.fs.SyncDir(extra); err != nil {
			return err
		}
	}
	return w.fs.SyncDir(dir)
}

// publish renames the folder to the next number. If another export takes that number
// first, publish takes the one after.
func (w writer) publish(tmp string) (path string, err error) {
	for {
		version, err := next(w.base)
		if err != nil {
			return "", err
		}
		path = filepath.Join(w.base, strconv.FormatInt(version, 10))
		err = w.fs.Rename(tmp, path)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			continue
		}
		if err != nil {
			return "", err
		}
		break
	}
	if err := w.fs.SyncDir(w.base); err != nil {
		_ = w.fs.Rename(path, tmp) // it might vanish in a power failure: withdraw it
		return "", err
	}
	return path, nil
}
