package interpreter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

// small is a model with a variable w of two values and an asset. It answers its input x, w and the
// path of the asset.
const small = `
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "w" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "read" op: "ReadVariableOp" input: "w" }
    node { name: "words" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "here" } } } }
    node { name: "y" op: "IdentityN" input: "x" input: "read" input: "words"
           attr { key: "T" value { list { type: DT_FLOAT type: DT_FLOAT type: DT_STRING } } } }
    node { name: "path" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "model" } } } }
    node { name: "names" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "w" } } } }
    node { name: "slices" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "" } } } }
    node { name: "restored" op: "RestoreV2" input: "path" input: "names" input: "slices" attr { key: "dtypes" value { list { type: DT_FLOAT } } } }
    node { name: "assign" op: "AssignVariableOp" input: "w" input: "restored" }
    node { name: "restore" op: "NoOp" input: "^assign" }
    node { name: "init" op: "NoOp" }
  }
  saver_def { filename_tensor_name: "path:0" restore_op_name: "restore" version: V2 }
  collection_def { key: "saved_model_main_op" value { node_list { value: "init" } } }
  signature_def { key: "serving_default" value {
    inputs { key: "x" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } } } }
    outputs { key: "x" value { name: "y:0" dtype: DT_FLOAT } }
    outputs { key: "w" value { name: "y:1" dtype: DT_FLOAT } }
    outputs { key: "words" value { name: "y:2" dtype: DT_STRING } }
    method_name: "tensorflow/serving/predict" } }
  asset_file_def { tensor_info { name: "words:0" } filename: "words.txt" }
}`

// write writes the model small into a folder, changed by change, and returns the folder.
func write(t *testing.T, change func(m *tfpb.MetaGraphDef)) string {
	t.Helper()
	var saved tfpb.SavedModel
	if err := prototext.Unmarshal([]byte(small), &saved); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(saved.MetaGraphs[0])
	}
	data, err := proto.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, modelFile), data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "variables"), 0o777); err != nil {
		t.Fatal(err)
	}
	w := bundle.Float32("w", []int{2}, []float32{3, 4})
	if _, err := bundle.Write(bundle.OS, filepath.Join(dir, "variables", "variables"), []bundle.Tensor{w}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// nodeOf returns a node of the main graph.
func nodeOf(m *tfpb.MetaGraphDef, name string) *tfpb.NodeDef {
	for _, n := range m.GraphDef.Node {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// TestSmall verifies the values of an input, a variable and a constant, and that a request gets what
// the graph says and not the path that only the init operation sees.
func TestSmall(t *testing.T) {
	m, err := Open(write(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Mapped != 8 {
		t.Errorf("%d bytes are mapped, want 8", m.Mapped)
	}
	got := run(t, m, "serving_default", &Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1}, Float32: []float32{7}})
	if w, words, x := got[0], got[1], got[2]; len(w.Float32) != 2 || w.Float32[1] != 4 || string(words.Bytes[0]) != "here" || x.Float32[0] != 7 {
		t.Errorf("w %v, words %q, x %v", w.Float32, words.Bytes, x.Float32)
	}
}

// TestTwoKeys verifies that two inputs of a signature may be one tensor, as in TensorFlow.
func TestTwoKeys(t *testing.T) {
	m, err := Open(write(t, func(m *tfpb.MetaGraphDef) {
		inputs := m.SignatureDef["serving_default"].Inputs
		inputs["z"] = inputs["x"]
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := &Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1}, Float32: []float32{7}}
	if got := run(t, m, "serving_default", x, x); got[2].Float32[0] != 7 {
		t.Errorf("x is %v, want 7", got[2].Float32)
	}
}

// pipe puts a pipe in the place of a file. It answers nothing, so its reader would wait for ever.
func pipe(name string) error {
	return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o666))
}

// TestBadModels verifies that each kind of damage is refused when the model is opened, by a sentence
// that names the place.
func TestBadModels(t *testing.T) {
	type meta = *tfpb.MetaGraphDef
	text := func(s string) *tfpb.AttrValue {
		var v tfpb.AttrValue
		if err := prototext.Unmarshal([]byte(s), &v); err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for name, c := range map[string]struct {
		change func(m meta)
		files  func(dir string) error
		want   string
	}{
		"damage=cycle":           {change: func(m meta) { nodeOf(m, "y").Input[0] = "y" }, want: "y: needs its own output"},
		"damage=order cycle":     {change: func(m meta) { n := nodeOf(m, "read"); n.Input = append(n.Input, "^y") }, want: "needs its own output"},
		"damage=missing node":    {change: func(m meta) { nodeOf(m, "y").Input[0] = "z" }, want: "no node z, which another needs"},
		"damage=missing input":   {change: func(m meta) { m.SignatureDef["serving_default"].Inputs["x"].Name = "z:0" }, want: "no node z"},
		"damage=missing output":  {change: func(m meta) { m.SignatureDef["serving_default"].Outputs["x"].Name = "y:3" }, want: "y (IdentityN) has no output 3"},
		"damage=no tensor":       {change: func(m meta) { m.SignatureDef["serving_default"].Outputs["x"].Name = "y:-1" }, want: "y:-1 is no output"},
		"damage=two nodes":       {change: func(m meta) { nodeOf(m, "words").Name = "x" }, want: "x: two nodes have this name"},
		"damage=unknown op":      {change: func(m meta) { nodeOf(m, "y").Op = "Einsum" }, want: "ops not known here: Einsum (y)"},
		"damage=two unknown ops": {change: func(m meta) { nodeOf(m, "y").Op = "Einsum"; nodeOf(m, "read").Op = "Conv9D" }, want: ": 2 ops not known here: Conv9D (read), Einsum (y)"},
		"damage=missing function": {change: func(m meta) { nodeOf(m, "y").Op = "PartitionedCall" },
			want: "y: no function"},
		"damage=missing attribute": {change: func(m meta) { delete(nodeOf(m, "restored").Attr, "dtypes") }, want: "restored (RestoreV2) has no output 0"},
		"damage=missing number": {change: func(m meta) {
			n := nodeOf(m, "words")
			m.GraphDef.Node = append(m.GraphDef.Node, &tfpb.NodeDef{Name: "hashed", Op: "StringToHashBucketFast", Input: []string{n.Name}})
			m.SignatureDef["serving_default"].Outputs["w"].Name = "hashed:0"
		}, want: "hashed (StringToHashBucketFast): attribute num_buckets is missing"},
		"damage=missing constant": {change: func(m meta) { delete(nodeOf(m, "names").Attr, "value") }, want: "names (Const): attribute value is missing"},
		"damage=missing variable": {change: func(m meta) { nodeOf(m, "names").Attr["value"].GetTensor().StringVal = [][]byte{[]byte("v")} },
			want: "no tensor v"},
		"damage=other shape": {change: func(m meta) { nodeOf(m, "w").Attr["shape"] = text("shape { dim { size: 3 } }") },
			want: "a value of shape [2] for variable w of shape [3]"},
		"damage=other type": {change: func(m meta) { nodeOf(m, "restored").Attr["dtypes"] = text("list { type: DT_INT32 }") },
			want: "tensor w has type DT_FLOAT, want DT_INT32"},
		"damage=not restored": {change: func(m meta) { nodeOf(m, "restore").Input = nil }, want: "read (ReadVariableOp): variable w has no value"},
		"damage=other files": {change: func(m meta) { m.SaverDef.FilenameTensorName = "" },
			want: "restored (RestoreV2): restores other files than the variables of the model"},
		"damage=huge constant": {change: func(m meta) {
			nodeOf(m, "words").Attr["value"] = text("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } } float_val: 1 }")
			m.AssetFileDef = nil
		}, want: "words (Const): a tensor of shape [1099511627776] takes more than"},
		"damage=folder of an asset": {change: func(m meta) { m.AssetFileDef[0].Filename = "../../etc/passwd" },
			want: "asset ../../etc/passwd is not in the folder assets"},
		"damage=other tag":    {change: func(m meta) { m.MetaInfoDef.Tags = []string{"train"} }, want: "no graph has the tag serve alone; tags: train"},
		"damage=no signature": {change: func(m meta) { m.SignatureDef = nil }, want: "no signature"},
		"damage=sparse input": {change: func(m meta) { m.SignatureDef["serving_default"].Inputs["x"].Name = "" }, want: "x is no dense tensor"},
		"damage=checksum": {files: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "variables", "variables.data-00000-of-00001"), make([]byte, 8), 0o666)
		}, want: "crc32c"},
		"damage=no data": {files: func(dir string) error {
			return os.Remove(filepath.Join(dir, "variables", "variables.data-00000-of-00001"))
		}, want: "no such file"},
		"damage=half the data": {files: func(dir string) error {
			return os.Truncate(filepath.Join(dir, "variables", "variables.data-00000-of-00001"), 4)
		}, want: "the file has only 4"},
		"damage=no variables": {files: func(dir string) error { return os.RemoveAll(filepath.Join(dir, "variables")) },
			want: "variable w has no value"},
		"damage=pipe": {files: func(dir string) error { return pipe(filepath.Join(dir, modelFile)) }, want: "is not a file"},
		"damage=pipe of data": {files: func(dir string) error {
			return pipe(filepath.Join(dir, "variables", "variables.data-00000-of-00001"))
		}, want: "is not a file"},
		"damage=cut": {files: func(dir string) error { return os.Truncate(filepath.Join(dir, modelFile), 300) }, want: "the file is damaged: it is no SavedModel"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.change)
			if c.files != nil {
				if err := c.files(dir); err != nil {
					t.Fatal(err)
				}
			}
			m, err := Open(dir)
			if err == nil {
				m.Close()
				t.Fatal("the model opens")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if code := exitcode.Of(err); code != exitcode.BadData {
				t.Errorf("exit code %d, want %d", code, exitcode.BadData)
			}
		})
	}
}

// TestNoModel verifies that a folder without a model is missing input, not bad data.
func TestNoModel(t *testing.T) {
	_, err := Open(t.TempDir())
	if code := exitcode.Of(err); code != exitcode.NoInput || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v with exit code %d, want %d", err, code, exitcode.NoInput)
	}
}
