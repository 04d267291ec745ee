package savedmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
)

// Written describes a written export.
type Written struct {
	Path    string // the version folder
	Version int64
	Bytes   int64 // total of the files

	Stays []error // what is no longer needed and cannot be removed, see [bundle.Disk]
}

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

// Write exports a model as the next version under base. If verify is not nil, Write
// calls it with the unpublished folder; its error stops the export and is returned.
//
// Write never overwrites anything, and leaves nothing behind when it fails. It removes
// the remains of killed exports. t must have exactly the graph's variables: a missing or
// superfluous variable or another shape is an error with [exitcode.BadData]. An error of
// the disk has the code of [bundle.Fault]. Write panics if the graph is invalid.
func Write(base string, m *graph.Graph, t Trained, names Names, verify func(dir string) error) (Written, error) {
	if err := checkVariables(variablesOf(m), t.Variables); err != nil {
		return Written{}, err
	}
	var stays []error
	w := writer{bundle.NewDisk(bundle.OS, func(err error) { stays = append(stays, err) }), base}
	b := build(m, names)
	b.MetaGraphs[0].MetaInfoDef.MetaGraphVersion = t.Job // no loader reads it
	written, err := w.write(content{b, t, m.Columns}, verify)
	written.Stays = stays
	return written, err
}

type writer struct {
	fs   *bundle.Disk
	base string
}

// write makes the base if it is missing, and removes it again after an error.
func (w writer) write(c content, verify func(dir string) error) (written Written, err error) {
	made, err := bundle.MkdirAll(w.fs, w.base)
	defer func() {
		if err != nil {
			for _, dir := range made { // Remove refuses folders that are not empty
				_ = w.fs.Remove(dir)
			}
		}
	}()
	if err != nil {
		return Written{}, bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	w.sweep()
	d, err := w.newDraft()
	if err != nil {
		return Written{}, bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	defer d.close()
	tmp := d.path
	defer func() {
		if err != nil {
			w.fs.Discard(tmp)
		}
	}()
	if written.Bytes, err = w.files(tmp, c); err != nil {
		return Written{}, bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	if verify != nil {
		if err := verify(tmp); err != nil {
			return Written{}, err
		}
	}
	if written.Path, written.Version, err = w.publish(tmp); err != nil {
		return Written{}, bundle.Fault(fmt.Errorf("savedmodel: %w", err))
	}
	return written, nil
}

// content is the content of a version.
type content struct {
	model   *tfpb.SavedModel
	trained Trained
	columns *graph.Columns // nil for none
}

// files writes and syncs all files of a version into the empty folder dir.
func (w writer) files(dir string, c content) (bytes int64, err error) {
	variables := filepath.Join(dir, variablesFolder)
	if err := w.fs.Mkdir(variables); err != nil {
		return 0, err
	}
	bytes, err = bundle.Write(w.fs, filepath.Join(variables, variablesPrefix), c.trained.tensors())
	if err != nil {
		return 0, err
	}
	text := marshal(c.model)
	if err := bundle.WriteFile(w.fs, filepath.Join(dir, modelFile), text); err != nil {
		return 0, err
	}
	more, err := w.columns(dir, c.columns)
	if err != nil {
		return 0, err
	}
	for _, d := range []string{variables, dir} {
		if err := w.fs.SyncDir(d); err != nil {
			return 0, err
		}
	}
	return bytes + int64(len(text)) + more, nil
}

// columns writes the description of raw records, for readers that do not run the graph.
// TensorFlow reserves the folder assets.extra for such files.
func (w writer) columns(dir string, c *graph.Columns) (bytes int64, err error) {
	if c == nil {
		return 0, nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	extra := filepath.Join(dir, extraFolder)
	if err := w.fs.Mkdir(extra); err != nil {
		return 0, err
	}
	if err := bundle.WriteFile(w.fs, filepath.Join(extra, columnsFile), text); err != nil {
		return 0, err
	}
	return int64(len(text)), w.fs.SyncDir(extra)
}

// publish renames the folder to the next number. If another export takes that number
// first, publish takes the one after.
func (w writer) publish(tmp string) (path string, version int64, err error) {
	for {
		if version, err = next(w.base); err != nil {
			return "", 0, err
		}
		path = filepath.Join(w.base, strconv.FormatInt(version, 10))
		err = w.fs.Rename(tmp, path)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			break
		}
	}
	if err != nil {
		return "", 0, err
	}
	if err := w.fs.SyncDir(w.base); err != nil {
		_ = w.fs.Rename(path, tmp) // it might vanish in a power failure: withdraw it
		return "", 0, err
	}
	return path, version, nil
}
