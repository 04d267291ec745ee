package records

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/input"
	"ringtrain/input/idx"
	"ringtrain/input/image"
	"ringtrain/input/tfrecord"
	"ringtrain/model/job"
)

// message returns a field that is a message of other fields.
func message(number protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(fields...))
}

// labelled returns a tf.Example with a label, which is a list of bytes (1), floats (2) or integers (3), and an id.
func labelled(kind protowire.Number, label []byte) []byte {
	entry := func(name string, kind protowire.Number, value []byte) []byte {
		return message(1, message(1, []byte(name)), message(2, message(kind, message(1, value))))
	}
	return message(1, entry("label", kind, label), entry("ids", 3, []byte{1}), entry("values", 2, protowire.AppendFixed32(nil, 0x3f800000)))
}

// writeRecords writes a TFRecord file.
func writeRecords(t *testing.T, name string, examples ...[]byte) {
	t.Helper()
	var b bytes.Buffer
	w := tfrecord.NewWriter(&b)
	for _, e := range examples {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeClassFiles writes a file of each format into a folder.
func writeClassFiles(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"a.svm": "5 1:1\n1 2:1\n3.0 1:1\n+1 1:1\n", "a.ffm": "5 0:1:1\n1 0:2:1\n3 1:1:1\n1 0:1:1\n", "a.vw": "5 | a\n1 | b\n3 | a\n1 | c\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var texts, floats, whole [][]byte
	for _, y := range []byte{5, 1, 3, 1} {
		texts = append(texts, labelled(1, []byte{'0' + y}))
		floats = append(floats, labelled(2, protowire.AppendFixed32(nil, map[byte]uint32{5: 0x40a00000, 1: 0x3f800000, 3: 0x40400000}[y])))
		whole = append(whole, labelled(3, []byte{y}))
	}
	writeRecords(t, at("texts.tfrecords"), texts...)
	writeRecords(t, at("floats.tfrecords"), floats...)
	writeRecords(t, at("whole.tfrecords"), whole...)
	if err := idx.WriteImages(at("images"), false, make([]byte, 4*4), 2, 2); err != nil {
		t.Fatal(err)
	}
	if err := idx.WriteLabels(at("labels"), false, []byte{5, 1, 3, 1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1/b", "1/d", "3/c", "5/a"} {
		var b bytes.Buffer
		if err := image.Encode(&b, make([]float32, 4), image.Shape{Height: 2, Width: 2, Channels: 1}); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(at("folder/"+name[:1]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at("folder/"+name+".png"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClassesOfFormats verifies, for each format, that classes are learnt from the labels, or are those of a list in
// its order, for training and for a trained model that takes the names over. Records without columns are read once
// more for it.
func TestClassesOfFormats(t *testing.T) {
	dir := t.TempDir()
	writeClassFiles(t, dir)
	columns := "  columns: [{label: {names: [label]}}, {ids: {names: [ids], size: 9}}]\n"
	for _, tt := range []struct{ name, train, more string }{
		{"libsvm", "{format: libsvm, files: [a.svm]}", ""},
		{"libffm", "{format: libffm, files: [a.ffm]}", ""},
		{"vw", "{format: vw, files: [a.vw]}", ""},
		{"texts", "{format: tfrecord, files: [texts.tfrecords], label: label, ids: ids, values: values}", ""},
		{"floats", "{format: tfrecord, files: [floats.tfrecords], label: label, ids: ids, values: values}", ""},
		{"whole", "{format: tfrecord, files: [whole.tfrecords], label: label, ids: ids, values: values}", ""},
		{"columns of texts", "{format: tfrecord, files: [texts.tfrecords]}", columns},
		{"columns of floats", "{format: tfrecord, files: [floats.tfrecords]}", columns},
		{"columns of whole", "{format: tfrecord, files: [whole.tfrecords]}", columns},
		{"idx", "{format: idx, images: images, labels: labels}", ""},
		{"images", "{format: images, images: folder}", "  shape: [2, 2, 1]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "job.yml")
			text := "model: {kind: linear}\ninput:\n  train: " + tt.train + "\n" + tt.more + "optimizer: {name: adam}\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				classes string
				names   []string
			}{{"auto", []string{"1", "3", "5"}}, {"5,1,3", []string{"5", "1", "3"}}} {
				cfg, err := job.Load(file, nil, []string{"model.classes=" + c.classes})
				if err != nil {
					t.Fatal(err)
				}
				set, err := NewOpener(cfg, Options{Roots: []string{dir}}).Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer set.Close()
				checkClasses(t, cfg, set, c.names)
				again, err := job.Load(file, nil, []string{"model.classes=" + c.classes, "eval.training=true"})
				if err != nil {
					t.Fatal(err)
				}
				d, err := evaluatedAgain(t.Context(), again, dir, set, c.names)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				checkClasses(t, again, Set{Train: d}, c.names)
			}
		})
	}
}

// evaluatedAgain opens the records of a job as eval does, for a model with names of classes.
func evaluatedAgain(ctx context.Context, cfg *job.Config, dir string, trained Set, names []string) (input.Dataset, error) {
	o := NewOpener(cfg, Options{Roots: []string{dir}})
	if err := o.AdoptClasses("ckpt", names); err != nil {
		return nil, err
	}
	if err := o.Adopt(ctx, "ckpt", trained.Columns()); err != nil {
		return nil, err
	}
	if cfg.Model.Features == 0 && o.Plan() == nil {
		o.SizedBy("ckpt", trained.Train.Facts().Features)
	}
	d, _, err := o.OpenEvaluated(ctx, Evaluated{Labelled: true})
	return d, err
}

// checkClasses verifies the names and the labels of records whose labels are 5, 1, 3 and 1; images are in the order
// of their folders.
func checkClasses(t *testing.T, cfg *job.Config, set Set, names []string) {
	t.Helper()
	if got := cfg.Model.Names(); !slices.Equal(got, names) {
		t.Errorf("the classes are %q, want %q", got, names)
	}
	var b input.Batch
	if err := set.Train.Append(&b, 0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, y := range b.Y {
		got = append(got, names[int(y)])
	}
	want := []string{"5", "1", "3", "1"}
	if cfg.Input.Train.Format == "images" {
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("labels are of the classes %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}
