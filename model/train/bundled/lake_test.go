package bundled

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPredictLake verifies that a column of the model which a folder names is one of the records in it.
func TestPredictLake(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, folder := range []string{"x=2/z=9", "x=4/z=9"} {
		name := filepath.Join(dir, folder, "a.csv")
		names = append(names, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x2\n7\n8\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := predict(t, Options{Bundle: examples, Signature: "regress_x_to_y"}, Files{Names: names}, &out); err != nil || out.String() != "record,prediction\n0,3\n1,3\n2,4\n3,4\n" {
		t.Errorf("%s, error %v", &out, err)
	}
}
