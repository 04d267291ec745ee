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
	m := &Model{Path: dir, meta: meta, store: &store{prefix: filepath.Join(dir, "variables", "variables"),
		resources: map[string]any{}, constants: map[*tfpb.TensorProto]*Tensor{}, most: most}}
	if err := m.load(); err != nil {
		m.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("interpreter: %s: %w", dir, err))
	}
	sets := kernel.Sets()
	m.Mapped = int64(m.store.mapped)
	m.store.many = kernel.New(sets[len(sets)-1], runtime.GOMAXPROCS(0))
	return m, nil
}

// Close releases the variables and the threads. No program of the model may run.
func (m *Model) Close() error {
	if m.store.many != nil {
		m.store.many.Close()
	}
	if m.store.variables != nil {
		return m.store.variables.Close()
	}
	return nil
}

// SignatureDefs returns the signatures as the file has them.
func (m *Model) SignatureDefs() map[string]*tfpb.SignatureDef { return m.meta.GetSignatureDef() }

// readMeta returns the graph of a version folder that has the tag serve and no other.
func readMeta(dir string) (*tfpb.MetaGraphDef, error) {
	name := filepath.Join(dir, modelFile)
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxBytes {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("interpreter: %s has %d bytes, want at most %d", name, info.Size(), maxBytes))
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
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
	if err := proto.Unmarshal(data, &saved); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
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
func (m *Model) load() error {
	var err error
	if m.lib, err = newLibrary(m.meta.GetGraphDef()); err != nil {
		return err
	}
	if err := m.describe(); err != nil {
		return err
	}
	feeds, err := m.paths()
	if err != nil {
		return err
	}
	var all []*expansion
	for _, node := range []string{m.restoreNode(), m.initNode()} {
		e, err := m.lib.expand(slices.Sorted(maps.Keys(feeds)), nil, node)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	for _, s := range m.Signatures {
		e, err := m.reach(s, s.Outputs)
		if err != nil {
			return err
		}
		m.mark(e)
		all = append(all, e)
	}
	if err := refuse(all); err != nil {
		return err
	}
	if err := m.restore(all[0], feeds); err != nil {
		return err
	}
	if err := m.start(all[1], feeds); err != nil {
		return err
	}
	return m.compileAll(all[2:])
}

// restore runs the restore operation, if there are variables.
func (m *Model) restore(e *expansion, feeds map[string]string) error {
	if _, err := os.Stat(m.store.prefix + ".index"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var err error
	if m.store.variables, err = bundle.Open(m.store.prefix); err != nil {
		return err
	}
	return m.start(e, feeds)
}

// start runs a program that gives variables and tables their values. Its buffers are never used again, so
// a variable may keep what it is given.
func (m *Model) start(e *expansion, feeds map[string]string) error {
	p, err := m.store.compile(e, true)
	if err != nil {
		return err
	}
	var inputs []*Tensor
	for _, name := range slices.Sorted(maps.Keys(feeds)) {
		inputs = append(inputs, &Tensor{Type: tfpb.DataType_DT_STRING, Bytes: [][]byte{[]byte(feeds[name])}})
	}
	r := p.newRun()
	r.once = true
	return r.run(inputs)
}

// compileAll compiles each signature with all of its outputs, and finds the features of its examples.
func (m *Model) compileAll(reached []*expansion) error {
	for i := range m.Signatures {
		s := &m.Signatures[i]
		p, err := m.signature(reached[i], *s, s.Outputs)
		if err != nil {
			return err
		}
		if s.Features, err = p.features(); err != nil {
			return fmt.Errorf("signature %s: %w", phrase.Name(s.Name), err)
		}
		m.programs = append(m.programs, p)
	}
	return nil
}

// mark finds the variables that a request can change.
func (m *Model) mark(e *expansion) {
	for _, v := range e.order {
		if v.op == nil || !v.op.assigns {
			continue
		}
		for len(v.in) > 0 && !isVariable(&v.node) {
			v = v.in[0]
		}
		if isVariable(&v.node) {
			m.store.variable(&v.node).assigned = true
		}
	}
}

func isVariable(n *node) bool { return n.op == "VarHandleOp" || n.op == "VariableV2" }

// describe reads the signatures.
func (m *Model) describe() error {
	defs := m.meta.GetSignatureDef()
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if name == initKey || name == trainKey {
			continue
		}
		s := Signature{Name: name, Method: defs[name].GetMethodName()}
		var errIn, errOut error
		s.Inputs, errIn = m.ports(defs[name].GetInputs())
		s.Outputs, errOut = m.ports(defs[name].GetOutputs())
		if err := errors.Join(errIn, errOut); err != nil {
			return fmt.Errorf("signature %s: %w", phrase.Name(name), err)
		}
		m.Signatures = append(m.Signatures, s)
	}
	if len(m.Signatures) == 0 {
		return errors.New("no signature")
	}
	return nil
}

// ports returns inputs or outputs by key. Where a placeholder has another type than the signature says, the
// placeholder is right: TensorFlow feeds the graph.
func (m *Model) ports(infos map[string]*tfpb.TensorInfo) ([]Port, error) {
	var all []Port
	for _, key := range slices.Sorted(maps.Keys(infos)) {
		info := infos[key]
		if info.GetName() == "" {
			return nil, fmt.Errorf("%s is no dense tensor", phrase.Name(key))
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
	return all, nil
}

// dims returns the sizes of a shape, not nil.
func dims(s *tfpb.TensorShapeProto) []int {
	shape := make([]int, len(s.GetDim()))
	for i, d := range s.GetDim() {
		shape[i] = int(max(d.GetSize(), -1))
	}
	return shape
}

func tensors(all []Port) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.tensor
	}
	return names
}

// restoreNode returns the node that restores the variables, "" if there is none.
func (m *Model) restoreNode() string {
	name, _, _ := strings.Cut(m.meta.GetSaverDef().GetRestoreOpName(), ":")
	return name
}

// initNode returns the node that initializes the model, "" if there is none. Its place has changed
// with the versions of TensorFlow.
func (m *Model) initNode() string {
	if info := m.meta.GetSignatureDef()[initKey].GetOutputs()[initKey]; info != nil {
		name, _, _ := strings.Cut(info.GetName(), ":")
		return name
	}
	for _, key := range []string{"saved_model_main_op", "legacy_init_op"} {
		if nodes := m.meta.GetCollectionDef()[key].GetNodeList().GetValue(); len(nodes) > 0 {
			name, _, _ := strings.Cut(nodes[0], ":")
			return name
		}
	}
	return ""
}

// paths returns the paths of the variables and of each asset, by the tensor that has it.
func (m *Model) paths() (map[string]string, error) {
	paths := map[string]string{}
	if name := m.meta.GetSaverDef().GetFilenameTensorName(); name != "" {
		paths[name] = m.store.prefix
	}
	defs := m.meta.GetAssetFileDef()
	if len(defs) == 0 {
		for _, a := range m.meta.GetCollectionDef()["saved_model_assets"].GetAnyList().GetValue() {
			def := &tfpb.AssetFileDef{}
			if err := proto.Unmarshal(a.GetValue(), def); err != nil {
				return nil, fmt.Errorf("the list of assets is damaged: %w", err)
			}
			defs = append(defs, def)
		}
	}
	for _, d := range defs {
		if !filepath.IsLocal(d.GetFilename()) {
			return nil, fmt.Errorf("asset %s is not in the folder %s", phrase.Name(d.GetFilename()), assets)
		}
		paths[d.GetTensorInfo().GetName()] = filepath.Join(m.Path, assets, d.GetFilename())
	}
	return paths, nil
}
