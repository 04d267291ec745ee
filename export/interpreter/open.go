package interpreter

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

const (
	modelFile  = "saved_model.pb"
	assets     = "assets"
	servingTag = "serve"
	initKey    = "__saved_model_init_op"
	trainKey   = "__saved_model_train_op"
)

// Open loads a version folder: it maps the variables, runs the restore operation and then the init
// operation of the graph, and checks what the signatures reach. The error has [exitcode.NoInput] if
// there is no model, and [exitcode.BadData] if the model is damaged or has operations that are not
// known here; it names them all.
//
// The files must not be changed in place while the model is open. They may be removed.
func Open(dir string) (*Model, error) {
	meta, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	return open(dir, meta, limits{constants: maxBytes, run: maxRunBytes})
}

// open loads the graph of a version folder.
func open(dir string, meta *tfpb.MetaGraphDef, most limits) (*Model, error) {
	m := &Model{Path: dir, meta: meta, store: store{prefix: filepath.Join(dir, "variables", "variables"), most: most, changing: true,
		resources: map[string]any{}, constants: map[*tfpb.TensorProto]*Tensor{}}}
	if _, err := guarded(m.load); err != nil {
		m.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("interpreter: %s: %w", dir, err))
	}
	sets := kernel.Sets()
	m.Mapped = int64(m.mapped)
	m.many = kernel.New(sets[len(sets)-1], runtime.GOMAXPROCS(0))
	return m, nil
}

// Close releases the variables and the threads. No program of the model may run.
func (m *Model) Close() error {
	if m.many != nil {
		m.many.Close()
	}
	if m.variables != nil {
		return m.variables.Close()
	}
	return nil
}

// SignatureDefs returns the signatures as the file has them.
func (m *Model) SignatureDefs() map[string]*tfpb.SignatureDef { return m.meta.GetSignatureDef() }

// readMeta returns the graph of a version folder that has the tag serve and no other.
func readMeta(dir string) (*tfpb.MetaGraphDef, error) {
	name := filepath.Join(dir, modelFile)
	data, err := bundle.ReadFile(name)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("interpreter: %w", err))
	}
	meta, err := parseMeta(data)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("interpreter: %s: %w", name, err))
	}
	return meta, nil
}

func parseMeta(data []byte) (*tfpb.MetaGraphDef, error) {
	var saved tfpb.SavedModel
	if proto.Unmarshal(data, &saved) != nil {
		return nil, errors.New("the file is damaged: it is no SavedModel")
	}
	var others []string
	for _, meta := range saved.GetMetaGraphs() {
		tags := meta.GetMetaInfoDef().GetTags()
		if slices.Equal(tags, []string{servingTag}) {
			return meta, nil
		}
		others = append(others, phrase.Name(strings.Join(tags, ",")))
	}
	return nil, fmt.Errorf("no graph has the tag %s alone; tags: %s", servingTag, cmp.Or(strings.Join(others, "; "), "none"))
}

// load makes the model ready for Compile.
func (m *Model) load() {
	m.lib = newLibrary(m.meta.GetGraphDef())
	m.describe()
	m.findPaths()
	m.reach()
	m.start()
	for i, p := range m.programs {
		s := &m.Signatures[i]
		about(s, func() {
			p.compile()
			s.Features = p.features()
		})
	}
}

// reach finds the nodes that the signatures and the start reach. It refuses operations that are not known.
func (m *Model) reach() {
	for i := range m.Signatures {
		s := &m.Signatures[i]
		about(s, func() { m.programs = append(m.programs, m.expand(s.Inputs, s.Outputs, "")) })
	}
	for _, node := range m.startNodes() {
		m.starts = append(m.starts, m.expand(m.files, nil, node))
	}
	m.lib.refuse()
}

// start gives variables and tables their values. Its buffers are never used again, so a variable may keep
// what it is given.
func (m *Model) start() {
	if _, err := os.Stat(m.prefix + ".index"); errors.Is(err, fs.ErrNotExist) {
		m.starts = m.starts[1:] // there is nothing to restore
	} else {
		m.variables = sure(bundle.Open(m.prefix))
	}
	for _, p := range m.starts {
		p.compile()
		r := p.newRun()
		r.once = true
		sure(r.run(m.paths, nil))
	}
	m.starts, m.changing = nil, slices.ContainsFunc(m.programs, func(p *Program) bool {
		return slices.ContainsFunc(p.order, func(n *node) bool { return n.op.assigns })
	})
}

// describe reads the signatures.
func (m *Model) describe() {
	defs := m.meta.GetSignatureDef()
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if name == initKey || name == trainKey {
			continue
		}
		s := Signature{Name: name, Method: defs[name].GetMethodName()}
		about(&s, func() { s.Inputs, s.Outputs = m.ports(defs[name].GetInputs()), m.ports(defs[name].GetOutputs()) })
		m.Signatures = append(m.Signatures, s)
	}
	n := len(m.Signatures)
	switch {
	case n == 0:
		refuse("no signature")
	case n > maxSignatures:
		refuse("%d signatures, want %d at most", n, maxSignatures)
	}
	m.most.folded = min(maxFolded, maxBytes/n)
}

// ports returns inputs or outputs by key. Where a placeholder has another type than the signature says, the
// placeholder is right: TensorFlow feeds the graph.
func (m *Model) ports(infos map[string]*tfpb.TensorInfo) []Port {
	var all []Port
	for _, key := range slices.Sorted(maps.Keys(infos)) {
		info := infos[key]
		if info.GetName() == "" {
			refuse("%s is no dense tensor", phrase.Name(key))
		}
		p := Port{Key: key, Type: info.GetDtype(), tensor: info.GetName()}
		base, _, _ := strings.Cut(p.tensor, ":")
		if t := m.lib.bodies[""].nodes[base].GetAttr()["dtype"].GetType(); t != tfpb.DataType_DT_INVALID {
			p.Type = t
		}
		if s := info.GetTensorShape(); s != nil && !s.GetUnknownRank() {
			p.Shape = dims(s)
		}
		all = append(all, p)
	}
	return all
}

// dims returns the sizes of a shape, not nil.
func dims(s *tfpb.TensorShapeProto) []int {
	shape := make([]int, len(s.GetDim()))
	for i, d := range s.GetDim() {
		shape[i] = int(max(d.GetSize(), -1))
	}
	return shape
}

// startNodes returns the node that restores the variables and the one that initializes the model, "" where
// there is none. The place of the second has changed with the versions of TensorFlow.
func (m *Model) startNodes() []string {
	nodes := []string{m.meta.GetSaverDef().GetRestoreOpName(), m.meta.GetSignatureDef()[initKey].GetOutputs()[initKey].GetName()}
	for _, key := range []string{"saved_model_main_op", "legacy_init_op"} {
		if old := m.meta.GetCollectionDef()[key].GetNodeList().GetValue(); len(old) > 0 && nodes[1] == "" {
			nodes[1] = old[0]
		}
	}
	return nodes
}

// findPaths finds the paths of the variables and of each asset, by the tensor that has it.
func (m *Model) findPaths() {
	add := func(tensor, path string) {
		m.files = append(m.files, Port{tensor: tensor})
		m.paths = append(m.paths, &Tensor{Type: tfpb.DataType_DT_STRING, Bytes: [][]byte{[]byte(path)}})
	}
	if name := m.meta.GetSaverDef().GetFilenameTensorName(); name != "" {
		add(name, m.prefix)
	}
	defs := m.meta.GetAssetFileDef()
	for _, a := range m.meta.GetCollectionDef()["saved_model_assets"].GetAnyList().GetValue() { // of an older TensorFlow
		def := &tfpb.AssetFileDef{}
		if err := proto.Unmarshal(a.GetValue(), def); err != nil {
			refuse("the list of assets is damaged: %w", err)
		}
		defs = append(defs, def)
	}
	for _, d := range defs {
		if !filepath.IsLocal(d.GetFilename()) {
			refuse("asset %s is not in the folder %s", phrase.Name(d.GetFilename()), assets)
		}
		add(d.GetTensorInfo().GetName(), filepath.Join(m.Path, assets, d.GetFilename()))
	}
}
