package savedmodel

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
	"ringtrain/model"
	"ringtrain/model/graph"
)

var update = flag.Bool("update", false, "write the golden files again")

// text renders a model as text, one node a line, in the notation of FORMAT.md.
func text(m *tfpb.SavedModel) string {
	var b strings.Builder
	meta := m.MetaGraphs[0]
	fmt.Fprintf(&b, "schema %d, tags %v, versions %d %d, stripped %v\n", m.SavedModelSchemaVersion, meta.MetaInfoDef.Tags,
		meta.GraphDef.Versions.Producer, meta.GraphDef.Versions.MinConsumer, meta.MetaInfoDef.StrippedDefaultAttrs)
	for _, n := range meta.GraphDef.Node {
		fmt.Fprintf(&b, "%s = %s(%s)", n.Name, n.Op, strings.Join(n.Input, ", "))
		var names []string
		for a := range n.Attr {
			names = append(names, a)
		}
		sort.Strings(names)
		for _, a := range names {
			fmt.Fprintf(&b, " %s=%s", a, valueText(n.Attr[a]))
		}
		b.WriteByte('\n')
	}
	s := meta.SaverDef
	fmt.Fprintf(&b, "saver %s %s %s\n", s.FilenameTensorName, s.SaveTensorName, s.RestoreOpName)
	for _, name := range sortedKeys(meta.SignatureDef) {
		d := meta.SignatureDef[name]
		fmt.Fprintf(&b, "signature %s %s (%s) -> (%s)\n", name, d.MethodName, endsText(d.Inputs), endsText(d.Outputs))
	}
	for _, name := range sortedKeys(meta.CollectionDef) {
		fmt.Fprintf(&b, "collection %s: %d\n", name, len(meta.CollectionDef[name].GetBytesList().Value))
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func endsText(infos map[string]*tfpb.TensorInfo) string {
	var all []string
	for _, key := range sortedKeys(infos) {
		i := infos[key]
		all = append(all, fmt.Sprintf("%s: %s %s%s", key, i.Name, typeText(i.Dtype), shapeText(i.TensorShape)))
	}
	return strings.Join(all, ", ")
}

func typeText(t tfpb.DataType) string { return strings.ToLower(strings.TrimPrefix(t.String(), "DT_")) }

func shapeText(s *tfpb.TensorShapeProto) string {
	var dims []string
	for _, d := range s.Dim {
		dims = append(dims, fmt.Sprint(d.Size))
	}
	return "[" + strings.Join(dims, ",") + "]"
}

func valueText(v *tfpb.AttrValue) string {
	switch v := v.Value.(type) {
	case *tfpb.AttrValue_Type:
		return typeText(v.Type)
	case *tfpb.AttrValue_Shape:
		return shapeText(v.Shape)
	case *tfpb.AttrValue_I:
		return fmt.Sprint(v.I)
	case *tfpb.AttrValue_F:
		return fmt.Sprint(v.F)
	case *tfpb.AttrValue_B:
		return fmt.Sprint(v.B)
	case *tfpb.AttrValue_S:
		return fmt.Sprintf("%q", v.S)
	case *tfpb.AttrValue_Tensor:
		t := v.Tensor
		return fmt.Sprintf("%s%s%q%v%v%v", typeText(t.Dtype), shapeText(t.TensorShape), t.StringVal, t.FloatVal, t.IntVal, t.Int64Val)
	case *tfpb.AttrValue_List:
		var all []string
		for _, t := range v.List.Type {
			all = append(all, typeText(t))
		}
		for _, i := range v.List.I {
			all = append(all, fmt.Sprint(i))
		}
		for _, s := range v.List.Shape {
			all = append(all, shapeText(s))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return "?"
}

// TestGolden verifies that the graphs of small models equal golden files, node by node
// and byte by byte. TestTensorFlow has verified the files: run it before -update.
func TestGolden(t *testing.T) {
	for kind, d := range graphs() {
		m := build(d, DefaultNames())
		for name, got := range map[string][]byte{kind + ".txt": []byte(text(m)), kind + ".pb": marshal(m)} {
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what was checked; it is now\n%s", file, text(m))
			}
		}
	}
}

// TestDeterministic verifies that repeated builds of a model give equal bytes, whatever
// the order of maps.
func TestDeterministic(t *testing.T) {
	for kind, d := range graphs() {
		want := marshal(build(d, DefaultNames()))
		for range 20 {
			if !bytes.Equal(marshal(build(d, DefaultNames())), want) {
				t.Fatalf("%s: two builds differ", kind)
			}
		}
	}
}

// TestSizeOfSoftmax verifies that the MNIST model has as many nodes as the model in the
// study of the format.
func TestSizeOfSoftmax(t *testing.T) {
	g, err := model.Config{Kind: "softmax", Classes: model.Count(10)}.GraphOf(model.Inputs{Dense: graph.Shape{784}}, model.LossConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m := build(g, DefaultNames())
	if got := len(m.MetaGraphs[0].GraphDef.Node); got != 39 {
		t.Errorf("%d nodes, want 39", got)
	}
	t.Logf("%d bytes", proto.Size(m))
}
