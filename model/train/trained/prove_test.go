package trained

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/savedmodel"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
)

// hours returns an exporter of a model of random variables, whose records have the hour read as the items say.
func hours(t *testing.T, items ...string) Exporter {
	t.Helper()
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("clicked,hour,city\n")
	for i := range 90 {
		hour := fmt.Sprint(i % 24)
		if i%10 == 3 {
			hour = ""
		}
		fmt.Fprintf(&csv, "%d,%s,%s\n", i%3%2, hour, []string{"Bern", "Basel", "", "Chur"}[i%4])
	}
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("model: {kind: deepfm, embedding: 2, hidden: [4]}\noptimizer: {learning_rate: 0.1}\nexport: {savedmodel: %q}\ninput:\n  train: {format: csv, files: [%q], header: true}\n  columns:\n    - label: {names: [clicked]}\n    - categorical: {names: [city], vocabulary: auto}\n", filepath.Join(dir, "export"), file)
	for _, item := range items {
		text += "    - " + item + "\n"
	}
	return exporterOf(t, text)
}

// exporterOf returns an exporter of a job's model with random variables.
func exporterOf(t *testing.T, text string) Exporter {
	t.Helper()
	cfg, err := job.Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	m, err := data.NewModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	random(m)
	return Exporter{Job: cfg, Key: "export.savedmodel", Model: m, Proving: data.Proving, Disk: bundle.NewDisk(bundle.OS, func(err error) { t.Error(err) })}
}

// random gives the variables of a model values by which each input counts.
func random(m *model.Model) {
	model.AllocateAll(m.Variables())
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range m.Variables() {
		for i := range v.Value {
			v.Value[i] = float32(r.NormFloat64()) / 2
		}
	}
}

// kindsOfHour are the items that may read one column, for each pair of which there is a graph.
var kindsOfHour = []string{
	"numeric: {names: [hour], standardize: true}",
	"categorical: {names: [hour], hash: 50}",
	"key: {names: [hour]}",
	"{name: place, cross: {of: [hour, city], hash: 60}}",
	"numeric: {names: [hour], buckets: [6, 12, 18]}",
}

// TestHours verifies that a graph that reads one column in two ways, whatever they are, or in all, is proved.
func TestHours(t *testing.T) {
	lists := [][]string{kindsOfHour}
	for i, a := range kindsOfHour {
		for _, b := range kindsOfHour[i+1:] {
			lists = append(lists, []string{a, b})
		}
	}
	for _, items := range lists {
		if i := slices.Index(items, kindsOfHour[3]); i >= 0 && !slices.Contains(items, kindsOfHour[1]) { // a cross is of categorical columns
			items = append(slices.Clone(items), kindsOfHour[1])
		}
		t.Run(strings.Join(items, " "), func(t *testing.T) {
			x := hours(t, items...)
			e, err := x.Write(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			if e.Verified != 90 || e.Of != 90 || !(e.MaxDifference <= 1e-5) || e.Metric.Name != "auc" {
				t.Errorf("the event is %+v, metric %+v", e, e.Metric)
			}
			p, err := savedmodel.ReadProof(e.Path)
			if err != nil || p.Records != 90 || p.Step != 5 || p.Kernels != x.Model.Engine().Set().String() || fmt.Sprint(p.Signatures) != "[predict predict_sparse regression serving_default]" {
				t.Errorf("the proof is %+v, error %v", p, err)
			}
		})
	}
}

// TestDamagedGraph verifies that a bundle that is damaged before it is published is not published, and that nothing of it
// remains: each kind of damage has its exit code and names a signature or a file.
func TestDamagedGraph(t *testing.T) {
	node := func(g *tfpb.MetaGraphDef, op string) *tfpb.NodeDef {
		for _, n := range g.GetGraphDef().GetNode() {
			if n.GetOp() == op {
				return n
			}
		}
		t.Fatalf("the graph has no %s", op)
		return nil
	}
	graph := func(change func(g *tfpb.MetaGraphDef)) func(dir string) error {
		return func(dir string) error { return rewriteGraph(dir, change) }
	}
	variables := func(change func(all []bundle.Tensor) []bundle.Tensor) func(dir string) error {
		return func(dir string) error { return rewriteVariables(dir, change) }
	}
	for _, tt := range []struct {
		name   string
		damage func(dir string) error
		code   int
		want   string
	}{
		{"nothing", func(string) error { return nil }, exitcode.OK, ""},
		{"an op is another", graph(func(g *tfpb.MetaGraphDef) { node(g, "Sigmoid").Op = "Tanh" }), exitcode.Internal, " differs from the model by "},
		{"two outputs are swapped", graph(func(g *tfpb.MetaGraphDef) {
			out := g.GetSignatureDef()["predict"].GetOutputs()
			out["logits"], out["probability"] = out["probability"], out["logits"]
		}), exitcode.Internal, "export: predict differs from the model by "},
		{"another number of buckets", graph(func(g *tfpb.MetaGraphDef) {
			node(g, "StringToHashBucketFast").Attr["num_buckets"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_I{I: 49}}
		}), exitcode.Internal, " differs from the model by "},
		{"a feature is misspelt", graph(func(g *tfpb.MetaGraphDef) {
			for _, n := range g.GetGraphDef().GetNode() {
				if v := n.GetAttr()["value"].GetTensor().GetStringVal(); len(v) == 1 && string(v[0]) == "city" {
					v[0] = []byte("town")
				}
			}
		}), exitcode.Internal, "the graph parses no feature city"},
		{"a signature is gone that is not the default", graph(func(g *tfpb.MetaGraphDef) { delete(g.GetSignatureDef(), "predict_sparse") }), exitcode.OK, ""},
		{"an op is unknown", graph(func(g *tfpb.MetaGraphDef) { node(g, "Sigmoid").Op = "Sigmoidal" }), exitcode.Internal, "Sigmoidal"},
		{"a node is gone", graph(func(g *tfpb.MetaGraphDef) { node(g, "Sigmoid").Name = "other" }), exitcode.Internal, "export: interpreter: "},
		{"the graph is cut", func(dir string) error { return os.Truncate(filepath.Join(dir, "saved_model.pb"), 1000) }, exitcode.BadData, ""},
		{"a bit of a variable", func(dir string) error {
			return damageFile(filepath.Join(dir, "variables", "variables.data-00000-of-00001"))
		}, exitcode.BadData, ""},
		{"a weight", variables(func(all []bundle.Tensor) []bundle.Tensor { all[1].Data[2] ^= 0x70; return all }), exitcode.Internal, " differs from the model by "},
		{"a weight, to NaN", variables(func(all []bundle.Tensor) []bundle.Tensor { copy(all[1].Data, "\xff\xff\xff\xff"); return all }), exitcode.Internal, " differs from the model by "},
		{"a variable is missing", variables(func(all []bundle.Tensor) []bundle.Tensor { return slices.Delete(all, 1, 2) }), exitcode.BadData, ""},
	} {
		t.Run("damage="+tt.name, func(t *testing.T) {
			x := hours(t, kindsOfHour[0], kindsOfHour[1])
			base, proving := x.Job.Export.SavedModel, x.Proving
			x.Proving = func(ctx context.Context) (records.Proving, error) {
				drafts, _ := filepath.Glob(filepath.Join(base, ".ringtrain-export*"))
				if len(drafts) != 1 {
					t.Fatalf("drafts are %q, want one", drafts)
				}
				if err := tt.damage(drafts[0]); err != nil {
					t.Fatal(err)
				}
				return proving(ctx)
			}
			_, err := x.Write(t.Context(), 5)
			if exitcode.Of(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v (%d), want code %d and %q", err, exitcode.Of(err), tt.code, tt.want)
			}
			if tt.code == exitcode.Internal && !strings.HasSuffix(err.Error(), "; no version is written") {
				t.Errorf("error %v does not say that no version is written", err)
			}
			if _, err := os.Stat(base); (err == nil) != (tt.code == exitcode.OK) {
				t.Errorf("the base is there or not: %v", err)
			}
		})
	}
}

// rewriteGraph changes the graph in a version folder.
func rewriteGraph(dir string, change func(g *tfpb.MetaGraphDef)) error {
	name := filepath.Join(dir, "saved_model.pb")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var m tfpb.SavedModel
	if err := proto.Unmarshal(text, &m); err != nil {
		return err
	}
	change(m.MetaGraphs[0])
	if text, err = proto.Marshal(&m); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

// rewriteVariables changes the variables in a version folder.
func rewriteVariables(dir string, change func(all []bundle.Tensor) []bundle.Tensor) error {
	b, err := savedmodel.Read(dir)
	if err != nil {
		return err
	}
	prefix := filepath.Join(dir, "variables", "variables")
	for _, suffix := range []string{".index", ".data-00000-of-00001"} {
		if err := os.Remove(prefix + suffix); err != nil {
			return err
		}
	}
	_, err = bundle.Write(bundle.OS, prefix, change(b.Variables))
	return err
}

// damageFile flips a bit in the middle of a file.
func damageFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text[len(text)/2] ^= 0x40
	return os.WriteFile(name, text, 0o666)
}

// TestNarrow verifies that an export is not refused because a tf.Example has numbers of float32 alone: here it holds one of 128
// seconds.
func TestNarrow(t *testing.T) {
	dir := t.TempDir()
	csv := "y,at,x\n"
	for i := range 300 {
		csv += fmt.Sprintf("%d,%d,%d\n", i%2, 1_700_000_000+17*i, i%7)
	}
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(csv), 0o666); err != nil {
		t.Fatal(err)
	}
	x := exporterOf(t, fmt.Sprintf("model: {kind: deepfm, embedding: 2, hidden: [4]}\noptimizer: {learning_rate: 0.1}\nexport: {savedmodel: %q}\ninput: {train: {format: csv, files: [%q], header: true}, columns: [{label: {names: [y]}}, {numeric: {names: [at], standardize: true}}, {categorical: {names: [x], hash: 9}}]}\n", filepath.Join(dir, "export"), file))
	if e, err := x.Write(t.Context(), 5); err != nil || e.Verified != 300 {
		t.Errorf("the event is %+v, error %v, want 300 records", e, err)
	}
}

// TestNoFiles verifies that requests that are made up prove an export where the files of its records are gone.
func TestNoFiles(t *testing.T) {
	x := hours(t, kindsOfHour...)
	if err := os.Remove(x.Job.Input.Train.Files[0]); err != nil {
		t.Fatal(err)
	}
	e, err := x.Write(t.Context(), 5)
	if err != nil || !e.MadeUp || e.Verified != 8 || e.Metric != nil || math.IsNaN(float64(e.MaxDifference)) {
		t.Errorf("the event is %+v, error %v, want 8 made-up requests", e, err)
	}
}

// examples returns the TFRecords of 60 examples.
func examples(t *testing.T, of func(i int) map[string]any) string {
	t.Helper()
	var file strings.Builder
	w := tfrecord.NewWriter(&file)
	for i := range 60 {
		features := map[string]*tfpb.Feature{}
		for name, list := range of(i) {
			switch list := list.(type) {
			case []int64:
				features[name] = &tfpb.Feature{Kind: &tfpb.Feature_Int64List{Int64List: &tfpb.Int64List{Value: list}}}
			case []float32:
				features[name] = &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: list}}}
			case []string:
				texts := &tfpb.BytesList{}
				for _, text := range list {
					texts.Value = append(texts.Value, []byte(text))
				}
				features[name] = &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: texts}}
			}
		}
		text, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: features}})
		if err == nil {
			err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

// TestFormats verifies that exports of records of each format, and of each kind of column, are proved by records of their files
// and by requests that are made up.
func TestFormats(t *testing.T) {
	lines := func(line func(i int) string) string {
		var all strings.Builder
		for i := range 60 {
			all.WriteString(line(i) + "\n")
		}
		return all.String()
	}
	for _, tt := range []struct {
		name, job, file string
		text            string
	}{
		{"libsvm", "model: {kind: fm, embedding: 2}\ninput: {train: {format: libsvm, files: [FILE]}}", "a.libsvm",
			lines(func(i int) string { return fmt.Sprintf("%d %d:%g %d:1", i%2, i%7, float64(i)/8, 9+i%5) })},
		{"libffm", "model: {kind: deepfm, embedding: 2, hidden: [3], fields: 2}\ninput: {train: {format: libffm, files: [FILE]}}", "a.libffm",
			lines(func(i int) string { return fmt.Sprintf("%d 0:%d:1 1:%d:0.5", i%2, i%7, 9+i%5) })},
		{"vw", "model: {kind: linear, features: 512}\nloss: {kind: sigmoid}\ninput: {train: {format: vw, files: [FILE]}}", "a.vw",
			lines(func(i int) string { return fmt.Sprintf("%d | %d:2 %d", 2*(i%2)-1, i%300, 300+i%200) })},
		{"dense libsvm", "model: {kind: mlp, hidden: [3]}\nloss: {kind: squared}\ninput: {shape: [6], train: {format: libsvm, files: [FILE]}}", "a.libsvm",
			lines(func(i int) string { return fmt.Sprintf("%g %d:%g", float64(i), i%6, float64(i)/8) })},
		{"classes with names", "model: {kind: softmax, classes: [no, maybe, yes]}\ninput: {train: {format: csv, files: [FILE], header: true}, columns: [{label: {names: [y]}}, {numeric: {names: [x], standardize: true}}]}", "a.csv",
			"y,x\n" + lines(func(i int) string { return fmt.Sprintf("%s,%d", []string{"yes", "no", "maybe"}[i%3], i%11) })},
		{"all columns", `model: {kind: wide-deep, embedding: 2, hidden: [3]}
loss: {kind: squared}
input:
  train: {format: csv, files: [FILE], header: true, separator: ";"}
  missing: [NA, "-9"]
  columns:
    - label: {names: [y], standardize: true, transform: log1p}
    - weight: {names: [w]}
    - numeric: {names: [price], decimal: ",", strip: "$", standardize: true, default: mean}
    - numeric: {names: [age], transform: log1p, default: 3}
    - numeric: {names: [age], buckets: [3, 7], default: 5}
    - time: {names: [day], layout: "%d.%m.%Y %H:%M", parts: [days, year, month, weekday, hour]}
    - time: {names: [at], layout: unix}
    - categorical: {names: [tags], separator: "|", hash: 20}
    - categorical: {names: [city], vocabulary: auto, unknown: error}
    - text: {names: [review], hash: 50, lower: true, ngrams: 2}
    - ids: {names: [ids], values: values, size: 9}
    - key: {names: [id, city]}`, "a.csv",
			"id;y;w;price;age;day;at;tags;city;review;ids;values\n" + lines(func(i int) string {
				return fmt.Sprintf("r%d;%d;%d;$%d,5;%s;%02d.06.2026 07:30;%d;a|b%d| ;%s;Good, GOOD day %d;%d 3;0.5 %d", i, i*i, 1+i%2, i, []string{"NA", "-9", "4", "8.25", ""}[i%5], 1+i%28, 1700000000+i*7200, i%4, []string{"Bern", "Chur"}[i%2], i%3, i%9, i)
			})},
		{"tfrecord of ids", "model: {kind: fm, embedding: 2}\ninput: {train: {format: tfrecord, files: [FILE], ids: i, values: v}}", "a.tfrecord",
			examples(t, func(i int) map[string]any {
				return map[string]any{"label": []int64{int64(i % 2)}, "i": []int64{int64(i % 7), int64(9 + i%3)}[:i%3], "v": []float32{0.5, float32(i)}[:i%3]}
			})},
		{"tfrecord of numbers", "model: {kind: softmax, classes: 3}\ninput: {train: {format: tfrecord, files: [FILE], values: v}}", "a.tfrecord",
			examples(t, func(i int) map[string]any {
				return map[string]any{"label": []int64{int64(i % 3)}, "v": []float32{0.5, float32(i), -1}}
			})},
		{"tfrecord of columns", `model: {kind: deepfm, embedding: 2, hidden: [3]}
input:
  train: {format: tfrecord, files: [FILE]}
  columns:
    - label: {names: [y]}
    - numeric: {names: [n, whole], standardize: true, default: mean}
    - numeric: {names: [n], buckets: [0.1, 3]}
    - categorical: {names: [tags], vocabulary: auto}
    - categorical: {names: [code, split], hash: 20, separator: "|"}
    - categorical: {names: [both], hash: 9}
    - key: {names: [both]}
    - time: {names: [at], layout: unix}
    - ids: {names: [i], values: v, size: 9}`, "a.tfrecord",
			examples(t, func(i int) map[string]any {
				all := map[string]any{
					"y": []int64{int64(i % 2)}, "n": []float32{float32(i) / 10}, "whole": []int64{int64(i)}, "code": []int64{int64(i % 5)}, "both": []int64{int64(i)},
					"tags": []string{"a", "b", "", "c"}[i%3 : i%3+i%2+1], "split": []string{"x|y", "z"}, "at": []int64{1700000000 + int64(i)*7200}, "i": []int64{1, 8}, "v": []float32{1, float32(i)},
				}
				delete(all, []string{"n", "whole", "tags", "code", "split", "both", "at", "none"}[i%8])
				return all
			})},
	} {
		t.Run("format="+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, tt.file)
			if err := os.WriteFile(file, []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			x := exporterOf(t, strings.ReplaceAll(tt.job, "FILE", file)+"\noptimizer: {learning_rate: 0.1}\nexport: {savedmodel: "+filepath.Join(dir, "export")+", if: always}\n")
			e, err := x.Write(t.Context(), 5)
			if err != nil || e.Verified != 60 {
				t.Fatalf("the event is %+v, error %v, want 60 records", e, err)
			}
			warm, err := os.ReadFile(filepath.Join(e.Path, "assets.extra", savedmodel.WarmUpFile))
			if err != nil || len(warm) == 0 {
				t.Errorf("the warm-up file has %d bytes, error %v", len(warm), err)
			}
		})
	}
}

// TestEvaluateBundle verifies that the metrics of a bundle are those of its graph, and that a graph that is damaged after it was
// published ends the evaluation.
func TestEvaluateBundle(t *testing.T) {
	x := hours(t, kindsOfHour...)
	e, err := x.Write(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func() error {
		s, err := Open(t.Context(), x.Job, nil, e.Path, records.Evaluated{Labelled: true, Split: "train"})
		if err != nil {
			return err
		}
		defer s.Close()
		m, err := s.Evaluate(t.Context())
		if err == nil && (m.Examples != 90 || math.Abs(float64(*m.AUC-e.Metric.Graph)) > 1e-9) {
			t.Errorf("%d records, AUC %v, want 90 and %v", m.Examples, *m.AUC, e.Metric.Graph)
		}
		return err
	}
	if err := evaluate(); err != nil {
		t.Error(err)
	}
	err = rewriteGraph(e.Path, func(g *tfpb.MetaGraphDef) {
		for _, n := range g.GetGraphDef().GetNode() {
			if n.GetOp() == "StringToHashBucketFast" {
				n.Attr["num_buckets"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_I{I: 49}}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := evaluate(); exitcode.Of(err) != exitcode.Internal || !strings.HasPrefix(err.Error(), e.Path+": ") || !strings.Contains(err.Error(), "t.csv:2), bound 1e-05") {
		t.Errorf("error %v (%d), want the bundle, the record and code %d", err, exitcode.Of(err), exitcode.Internal)
	}
}

// TestImages verifies that an export of a model of images, whose classes are folders, is proved by the numbers of images.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		of := image.NewGray(image.Rect(0, 0, 8, 8))
		for k := range of.Pix {
			of.Pix[k] = uint8(r.IntN(256))
		}
		var text bytes.Buffer
		name := filepath.Join(dir, "images", []string{"cat", "dog", "owl"}[i%3], fmt.Sprintf("%d.png", i))
		if err := errors.Join(png.Encode(&text, of), os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, text.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	layers := "[{conv2d: {filters: 3, kernel: 3, activation: relu}}, flatten, {dense: {units: 3}}]"
	x := exporterOf(t, fmt.Sprintf("model: {layers: %s}\nloss: {kind: softmax}\ninput: {shape: [8, 8, 1], train: {format: images, images: %q}}\noptimizer: {learning_rate: 0.1}\nexport: {savedmodel: %q}\n", layers, filepath.Join(dir, "images"), filepath.Join(dir, "export")))
	e, err := x.Write(t.Context(), 5)
	if err != nil || e.Verified != 12 || e.Metric.Name != "accuracy" {
		t.Errorf("the event is %+v, error %v, want 12 records", e, err)
	}
}
