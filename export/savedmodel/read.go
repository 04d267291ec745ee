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

// Bundle is an export that Read has read.
type Bundle struct {
	Path       string          // the version folder
	Step       int64           // global_step, 0 if the export has none
	Variables  []bundle.Tensor // with global_step
	Signatures []Signature     // sorted by name
	Columns    *graph.Columns  // of raw records; nil without columns
	JobFile    []byte          // a copy of the job, in file form; nil: none
	Classes    []string        // names, in the order of the classes; nil: a regression
}

// Signature describes one way to call a model.
type Signature struct {
	Name, Method    string
	Inputs, Outputs []Endpoint // sorted by key
}

// Endpoint is an input or output of a signature.
type Endpoint struct {
	Key    string // name in requests
	Tensor string // name in the graph: "node:0"
	DType  bundle.DType
	Shape  []int64 // -1 for any size; nil if the rank is unknown
}

// Read reads an export of ringtrain or TensorFlow. path is a version folder or a base;
// of a base Read takes the highest version. Read verifies the checksums of the variables
// and does not check the graph. The error has [exitcode.NoInput] if there is no export,
// and [exitcode.BadData] if it is damaged.
func Read(path string) (Bundle, error) {
	folder, err := VersionFolder(path)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Path: folder}
	if err := b.readModel(); err != nil {
		return Bundle{}, exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: %s: %w", filepath.Join(b.Path, modelFile), err))
	}
	if err := b.readVariables(); err != nil {
		return Bundle{}, err
	}
	return b, b.readExtra()
}

// VersionFolder returns path if it is a version folder; of a base it returns the highest version. The
// error has [exitcode.NoInput].
func VersionFolder(path string) (string, error) {
	if _, err := os.Stat(filepath.Join(path, modelFile)); err == nil {
		return path, nil
	}
	if err := bundle.KerasFile(path); err != nil {
		return "", err
	}
	_, name, err := highest(path)
	if err == nil && name == "" {
		err = fmt.Errorf("%s has no %s and no version folder", path, modelFile)
	}
	if err != nil {
		return "", exitcode.With(exitcode.NoInput, fmt.Errorf("savedmodel: %w", err))
	}
	return filepath.Join(path, name), nil
}

// readExtra reads the files of Write that describe raw records and the job, if they exist.
func (b *Bundle) readExtra() error {
	name := filepath.Join(b.Path, extraFolder, columnsFile)
	text, err := readIfThere(name)
	if err == nil && text != nil {
		b.Columns = new(graph.Columns)
		err = json.Unmarshal(text, b.Columns)
	}
	if err == nil {
		name = filepath.Join(b.Path, extraFolder, jobFile)
		b.JobFile, err = readIfThere(name)
	}
	if err != nil {
		return exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: %s: %w", name, err))
	}
	return nil
}

// readIfThere returns the content of a file, nil if there is none.
func readIfThere(name string) ([]byte, error) {
	text, err := bundle.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// readMeta reads the graph that is served from a saved_model.pb.
func readMeta(name string) (*tfpb.MetaGraphDef, error) {
	text, err := bundle.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var m tfpb.SavedModel
	if proto.Unmarshal(text, &m) != nil {
		return nil, errors.New("the file is damaged: it is no SavedModel")
	}
	return serving(&m)
}

func (b *Bundle) readModel() error {
	meta, err := readMeta(filepath.Join(b.Path, modelFile))
	if err != nil {
		return err
	}
	for name, s := range meta.GetSignatureDef() {
		b.Signatures = append(b.Signatures, Signature{
			Name: name, Method: s.GetMethodName(), Inputs: endpointsOf(s.GetInputs()), Outputs: endpointsOf(s.GetOutputs()),
		})
	}
	b.Classes = interfaceOf(meta)[1]
	slices.SortFunc(b.Signatures, func(a, b Signature) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// serving returns the graph with the tag serve, or the only graph.
func serving(m *tfpb.SavedModel) (*tfpb.MetaGraphDef, error) {
	if len(m.GetMetaGraphs()) == 1 {
		return m.GetMetaGraphs()[0], nil
	}
	for _, meta := range m.GetMetaGraphs() {
		if slices.Equal(meta.GetMetaInfoDef().GetTags(), []string{serveTag}) {
			return meta, nil
		}
	}
	return nil, fmt.Errorf("none of %d graphs has exactly the tag %q", len(m.GetMetaGraphs()), serveTag)
}

// refTypes is what a reference to a variable of TensorFlow 1 adds to the number of its type.
const refTypes = 100

func endpointsOf(infos map[string]*tfpb.TensorInfo) []Endpoint {
	var all []Endpoint
	for key, info := range infos {
		e := Endpoint{Key: key, Tensor: info.GetName(), DType: bundle.DType(info.GetDtype() % refTypes)}
		for _, d := range info.GetTensorShape().GetDim() {
			e.Shape = append(e.Shape, d.GetSize())
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Endpoint) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// readVariables reads the variables. A model may have none.
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
