package serving

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParseConfig verifies the models of a configuration, and that each fault is refused by its name.
func TestParseConfig(t *testing.T) {
	for _, tt := range []struct{ text, want, err string }{
		{text: `model_config_list { config { name: "a" base_path: "/m/a" model_platform: "tensorflow" } }`, want: "[{a /m/a {1 []} map[]}]"},
		{text: `model_config_list: { config: { name: "a", base_path: "/m/a", model_version_policy: { latest: { num_versions: 3 } } } config { name: "b" base_path: "b" model_version_policy { all {} } } }`,
			want: "[{a /m/a {3 []} map[]} {b b {0 []} map[]}]"},
		{text: `model_config_list { config { name: "a" base_path: "a" model_version_policy { specific { versions: 3 versions: 5 } } version_labels { key: "stable" value: 3 } } }`, want: "[{a a {0 [3 5]} map[stable:3]}]"},
		{text: `model_config_list { config { name: "a" base_path: "a" logging_config { log_collector_config { filename_prefix: "x" } sampling_config { sampling_rate: 0.1 } } } }`, want: "[{a a {1 []} map[]}]"},
		{text: ``, err: "model_config_list has no config"},
		{text: `model_config_list { config { name: "a" base_path: "a" bad: 1 } }`, err: "proto: (line 1:55): unknown field: bad"},
		{text: `model_config_list { config { base_path: "a" } }`, err: `config 1: name is ""`},
		{text: `model_config_list { config { name: "a" } }`, err: "base_path of a is missing"},
		{text: `model_config_list { config { name: "a" base_path: "a" } config { name: "a" base_path: "b" } }`, err: `config 2: name is "a"`},
		{text: `model_config_list { config { name: "a" base_path: "a" model_platform: "onnx" } }`, err: "model_platform of a"},
		{text: `model_config_list { config { name: "a" base_path: "a" model_version_policy { specific {} } } }`, err: "specific of a has no versions"},
	} {
		got, err := parseConfig([]byte(tt.text))
		if tt.err == "" && (err != nil || fmt.Sprint(got) != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s:\n got %v, %v\nwant %s, %s", tt.text, got, err, tt.want, tt.err)
		}
	}
}

// TestConfigFile verifies that a changed configuration takes effect: a model comes, another goes; and
// that one with an error leaves the models as they are and is told once.
func TestConfigFile(t *testing.T) {
	f := newFarm(t, Base{})
	name := filepath.Join(t.TempDir(), "models.config")
	config := func(models ...string) {
		text := "model_config_list {\n"
		for _, m := range models {
			text += fmt.Sprintf("config { name: %q base_path: %q }\n", m, filepath.Join(f.dir, m))
		}
		if err := os.WriteFile(name, []byte(text+"}"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f.Watcher.bases = ConfigFile(name)
	f.put("a/1", "")
	f.put("b/1", "")
	config("a")
	wants(t, "first", f.look(), "a 1")
	config("b", "b")
	wants(t, "error", f.look(), `name is "b"`)
	wants(t, "error again", f.look())
	config("b")
	wants(t, "change", f.look(), "b 1")
	if names := fmt.Sprint(f.models.Names(), f.unloaded); names != "[b] [a/1]" {
		t.Errorf("models and what was unloaded: %s, want [b] [a/1]", names)
	}
}
