package savedmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// Bundle is an export that was read.
type Bundle struct {
	Path       string          // the version folder
	Version    int64           // 0 if the folder's name is no number
	Step       int64           // global_step, where the export has it, else 0
	Variables  []bundle.Tensor // with global_step
	Signatures []Signature     // sorted by name
	Columns    *graph.Columns  // of raw records; nil where the export has none, or is not ours
}

// Signature is a way to call a model.
type Signature struct {
	Name, Method    string
	Inputs, Outputs []Endpoint // sorted by key
}

// Endpoint is an input or output of a signature.
type Endpoint struct {
	Key    string // what the client calls it
	Tensor string // what the graph calls it: "node:0"
	DType  bundle.DType
	Shape  []int64 // -1 is any size; nil if UnknownRank

	UnknownRank bool
}

// Read reads an export, ours or TensorFlow's: path is a base, of which it takes
// the highest version, or a version folder. The checksums of the variables are
// compared; the graph is not looked at. No export is [exitcode.NoInput], a
// damaged one [exitcode.BadData].
func Read(path string) (Bundle, error) {
	b := Bundle{Path: path}
	if _, err := os.Stat(filepath.Join(path, modelFile)); err != nil {
		_, name, err := highest(path)
		if err != nil {
			return Bundle{}, exitcode.With(exitcode.NoInput, fmt.Errorf("savedmodel: %w", err))
		}
		if name == "" {
			return Bundle{}, exitcode.With(exitcode.NoInput, fmt.Errorf("savedmodel: %s has no %s and no version folder", path, modelFile))
		}
		b.Path = filepath.Join(path, name)
	}
	b.Version, _ = parseVersion(filepath.Base(b.Path))
	if err := b.readModel(); err != nil {
		return Bundle{}, exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: %s: %w", filepath.Join(b.Path, modelFile), err))
	}
	if err := b.readVariables(); err != nil {
		return Bundle{}, err
	}
	return b, b.readColumns()
}

// readColumns reads what Write has said of raw records, if it has.
func (b *Bundle) readColumns() error {
	name := filepath.Join(b.Path, extraFolder, columnsFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		b.Columns = new(graph.Columns)
		err = json.Unmarshal(text, b.Columns)
	}
	if err != nil {
		return exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: %s: %w", name, err))
	}
	return nil
}

func (b *Bundle) readModel() error {
	text, err := os.ReadFile(filepath.Join(b.Path, modelFile))
	if err != nil {
		return err
	}
	var m tfpb.SavedModel
	if err := proto.Unmarshal(text, &m); err != nil {
		return err
	}
	meta, err := serving(&m)
	if err != nil {
		return err
	}
	for name, s := range meta.GetSignatureDef() {
		b.Signatures = append(b.Signatures, Signature{
			Name: name, Method: s.GetMethodName(), Inputs: ends(s.GetInputs()), Outputs: ends(s.GetOutputs()),
		})
	}
	slices.SortFunc(b.Signatures, func(a, b Signature) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// serving returns the graph that a server takes, or the only one there is.
func serving(m *tfpb.SavedModel) (*tfpb.MetaGraphDef, error) {
	if len(m.GetMetaGraphs()) == 1 {
		return m.GetMetaGraphs()[0], nil
	}
	for _, meta := range m.GetMetaGraphs() {
		if slices.Equal(meta.GetMetaInfoDef().GetTags(), []string{serveTag}) {
			return meta, nil
		}
	}
	return nil, fmt.Errorf("of %d graphs none has the tag %q and no other", len(m.GetMetaGraphs()), serveTag)
}

func ends(infos map[string]*tfpb.TensorInfo) []Endpoint {
	var all []Endpoint
	for key, info := range infos {
		e := Endpoint{
			Key: key, Tensor: info.GetName(), DType: bundle.DType(info.GetDtype()),
			UnknownRank: info.GetTensorShape().GetUnknownRank(),
		}
		for _, d := range info.GetTensorShape().GetDim() {
			e.Shape = append(e.Shape, d.GetSize())
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Endpoint) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// readVariables reads the variables; a model may have none.
func (b *Bundle) readVariables() error {
	prefix := filepath.Join(b.Path, variablesFolder, variablesPrefix)
	if _, err := os.Stat(prefix + ".index"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r, err := bundle.Open(prefix)
	if err != nil {
		return err
	}
	defer r.Close()
	if b.Variables, err = r.ReadAll(); err != nil {
		return err
	}
	for _, t := range b.Variables {
		if t.Name == globalStep {
			b.Step, err = t.Int64()
		}
	}
	return err
}
