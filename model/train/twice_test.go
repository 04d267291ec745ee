package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestColumnsThatNoExportCanRead verifies that a job that exports is refused before it trains if an export
// cannot read a column in the two ways that the job reads it, that the job trains without an export, and
// that an export of its checkpoint is refused.
func TestColumnsThatNoExportCanRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(name, []byte("y,i\n1,3\n0,4\n1,3\n0,\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const want = "input.columns reads i as text and ids, want one of them"
	text := "model: {kind: fm}\ninput:\n  train: {format: csv, files: [" + name + "], header: true}\n  batch: 2\n" +
		"  columns: [label: {names: [y]}, ids: {names: [i], size: 9}, categorical: {names: [i], hash: 5}]\noptimizer: {learning_rate: 0.1}\n"
	cfg := loadText(t, text, "export.savedmodel="+filepath.Join(dir, "export"))
	if _, err := Prepare(t.Context(), cfg, Options{Resume: "auto"}); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), ":5:3: "+want) {
		t.Errorf("error %v (%d) before training, want %q", err, exitcode.Of(err), want)
	}
	cfg = loadText(t, text, "checkpoint.dir="+filepath.Join(dir, "ckpt"))
	data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	mustTrain(t, 1, cfg, data, nil)
	s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Proves: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Export(t.Context(), filepath.Join(dir, "export"), func(string, string) {}); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v (%d) of an export, want %q", err, exitcode.Of(err), want)
	}
}
