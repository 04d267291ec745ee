package checkpoint

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadTensorFlow verifies that Load reads the folders of TensorFlow's Saver.
func TestLoadTensorFlow(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "model", "optimizer", "testdata", "*", "checkpoint"))
	if err != nil || len(dirs) != 13 {
		t.Fatalf("%d folders (%v), want 13", len(dirs), err)
	}
	for _, file := range dirs {
		s, err := Load(filepath.Dir(file))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Step != 20 || len(s.Tensors) < 2 || s.Run.Options != nil {
			t.Errorf("%s: step %d, %d tensors, run %+v; want step 20, w and t at least, and no run", file, s.Step, len(s.Tensors), s.Run)
		}
		path, found, err := Latest(filepath.Dir(file))
		if !found || err != nil || filepath.Base(path) != "model.ckpt-20" {
			t.Errorf("Latest = %s, %v, %v, want model.ckpt-20", path, found, err)
		}
	}
}

// TestParseState verifies each form of TensorFlow's state file.
func TestParseState(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string // want: newest first, or an error
	}{
		{"paths=relative", "model_checkpoint_path: \"m-2\"\nall_model_checkpoint_paths: \"m-1\"\nall_model_checkpoint_paths: \"m-2\"\n", "m-2 m-1"},
		{"paths=absolute", "model_checkpoint_path: \"/a/b/m-2\"\n", "/a/b/m-2"},
		{"paths=ours", "model_checkpoint_path: \"step-000012/model.ckpt\"\n", "step-000012"},
		{"paths=almost ours", "model_checkpoint_path: \"step-12/model.ckpt\"\n", "step-12/model.ckpt"},
		{"paths=escaped", `model_checkpoint_path: "\303\244\"b"`, `ä"b`},
		{"stamps=yes", "model_checkpoint_path: \"m\"\nall_model_checkpoint_timestamps: 1.5e9\nlast_preserved_timestamp: 2\n", "m"},
		{"text=empty", "", "no model_checkpoint_path"},
		{"quotes=missing", "model_checkpoint_path: m\n", "line 1"},
		{"path=empty", "\nmodel_checkpoint_path: \"\"\n", "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			paths, err := parseState(tt.text)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error is %v, want one with %q", err, tt.want)
				}
				return
			}
			if diff := cmp.Diff(tt.want, strings.Join(paths, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
