package interpreter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/export/tfpb"
)

// TestTableOfLines verifies that a file fills a table as TensorFlow 2.21 does, which gave these answers.
func TestTableOfLines(t *testing.T) {
	keys := textTensor("a", "b", "c", " a ", "\xff", "a\rb", "")
	for _, c := range []struct {
		name, lines string
		size        int64
		want        []int64 // nil: an error
	}{
		{"plain", "a\nb\n", -1, []int64{0, 1, -1, -1, -1, -1, -1}},
		{"no end", "a\nb", -1, []int64{0, 1, -1, -1, -1, -1, -1}},
		{"carriage returns", "a\r\nb\r\n", -1, []int64{0, 1, -1, -1, -1, -1, -1}},
		{"carriage return inside", "a\rb\nc\n", -1, []int64{-1, -1, 1, -1, -1, 0, -1}},
		{"blanks", " a \n\xff\n", -1, []int64{-1, -1, -1, 0, 1, -1, -1}},
		{"fewer are wanted", "a\nb\nc\n", 2, []int64{0, 1, -1, -1, -1, -1, -1}},
		{"more are wanted", "a\n", 3, nil},
		{"empty line", "a\n\nb\n", -1, nil},
		{"empty last line", "a\n\n", -1, nil},
		{"line twice", "a\na\n", -1, nil},
		{"empty", "", -1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "words.txt")
			if err := os.WriteFile(path, []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			n := &node{attrs: map[string]*tfpb.AttrValue{"vocab_size": {Value: &tfpb.AttrValue_I{I: c.size}}}}
			handle := &Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: &table{}}
			err := fillFromFile(&call{node: n, in: []*Tensor{handle, textScalar(path)}})
			if (err == nil) != (c.want != nil) {
				t.Fatalf("error %v, want values %v", err, c.want)
			}
			if err != nil {
				return
			}
			out := &Tensor{Int64: make([]int64, len(keys.Bytes))}
			none := &Tensor{Type: tfpb.DataType_DT_INT64, Int64: []int64{-1}}
			if err := lookUp(&call{in: []*Tensor{handle, keys, none}, out: []*Tensor{out}}); err != nil || !slices.Equal(out.Int64, c.want) {
				t.Errorf("%v, %v, want %v", out.Int64, err, c.want)
			}
		})
	}
	handle := &Tensor{Type: tfpb.DataType_DT_RESOURCE, resource: &table{}}
	err := fillFromFile(&call{node: &node{}, in: []*Tensor{handle, textScalar(filepath.Join(t.TempDir(), "none"))}})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
