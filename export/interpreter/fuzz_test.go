package interpreter

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
)

// FuzzModel verifies that no saved_model.pb, however damaged, makes the interpreter panic, hang or take
// more memory than its limits, neither when it is opened nor when its signatures run.
func FuzzModel(f *testing.F) {
	const fixture = "../testdata/serving/saved_model_half_plus_two_tf2_cpu/00000123"
	var saved tfpb.SavedModel
	if err := prototext.Unmarshal([]byte(small), &saved); err != nil {
		f.Fatal(err)
	}
	seed, err := proto.Marshal(&saved)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	for _, path := range []string{filepath.Join(fixture, modelFile), "../savedmodel/testdata/deepfm.pb", "../savedmodel/testdata/mlp.pb"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	dir := f.TempDir()
	tensors := []bundle.Tensor{bundle.Float32("w", []int{2}, []float32{3, 4})}
	r, err := bundle.Open(filepath.Join(fixture, "variables", "variables"))
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	others, err := r.ReadAll()
	if err != nil {
		f.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "variables"), 0o777); err != nil {
		f.Fatal(err)
	}
	if _, err := bundle.Write(bundle.OS, filepath.Join(dir, "variables", "variables"), append(tensors, others...)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		meta, err := parseMeta(data)
		if err != nil {
			return
		}
		m, err := open(dir, meta, limits{constants: 1 << 20, run: 1 << 20})
		if err != nil {
			return
		}
		defer m.Close()
		for _, p := range m.programs {
			if inputs, ok := zeros(p.Inputs); ok {
				_, _ = p.Run(inputs)
			}
		}
	})
}

// zeros returns an input of zeros for each port, one value where the port leaves the size open. It
// reports false if that would be too much.
func zeros(ports []Port) ([]*Tensor, bool) {
	inputs := make([]*Tensor, len(ports))
	for i, p := range ports {
		shape, n := make([]int, len(p.Shape)), 1
		for k, d := range p.Shape {
			shape[k] = max(d, -d)
			if n > 1<<16 || shape[k] > 1<<16 {
				return nil, false
			}
			n *= shape[k]
		}
		inputs[i] = &Tensor{Type: p.Type, Shape: shape}
		inputs[i].lane().resize(inputs[i], n)
	}
	return inputs, true
}
