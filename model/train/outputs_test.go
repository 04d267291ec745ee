package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// outputKeys are the keys that name a folder that rank 0 writes.
var outputKeys = []string{"checkpoint.dir", "export.savedmodel", "summary.dir"}

// TestOutputInTheWay verifies, for each key of an output and for links and files at the folder and
// above it, that the job ends with 73 before it trains, that the error names key, link and target,
// and that the link stays.
func TestOutputInTheWay(t *testing.T) {
	for _, key := range outputKeys {
		for _, tt := range []struct{ dir, err string }{
			{"link", "link is a link to gone/models, which is not there"},
			{"link/run/1", "cannot write into link/run/1: link is a link to gone/models, which is not there"},
			{"there/up", "there/up is a link to ../link, which is not there"},
			{"loop/run", "cannot write into loop/run: loop is a link to loop: stat loop: too many levels of symbolic links"},
			{"tofile/run", "cannot write into tofile/run: tofile is a file, want a folder"},
		} {
			t.Run(key+"="+tt.dir, func(t *testing.T) {
				t.Chdir(t.TempDir())
				links := map[string]string{"link": "gone/models", "there/up": "../link", "loop": "loop", "tofile": "file"}
				if err := os.Mkdir("there", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile("file", nil, 0o666); err != nil {
					t.Fatal(err)
				}
				for link, to := range links {
					if err := os.Symlink(to, link); err != nil {
						t.Fatal(err)
					}
				}
				m := trainOn(t, 2, loadText(t, linearText, key+"="+tt.dir), linearData(), nil)[0]
				if got := m.err; got == nil || m.code() != exitcode.CannotCreate || got.Error() != key+": "+tt.err {
					t.Errorf("ended with %d and %v, want %s: %s", m.code(), got, key, tt.err)
				}
				if len(m.events) > 0 {
					t.Errorf("events %q come before the error", kinds(m))
				}
				for link, to := range links {
					if got, err := os.Readlink(link); got != to {
						t.Errorf("link %s is %q, %v", link, got, err)
					}
				}
			})
		}
	}
}

// TestLinkPurgedAmidRun verifies that a link to the folder of exports stays if its target goes while
// the job trains, and that the export is then an error.
func TestLinkPurgedAmidRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("models", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("models", "link"); err != nil {
		t.Fatal(err)
	}
	m := trainOn(t, 2, loadText(t, linearText, "export.savedmodel=link/mine"), linearData(), func(m *member) {
		inPhase(m, 10, "export", func() { os.RemoveAll("models") })
	})[0]
	if m.err == nil || m.code() != exitcode.CannotCreate || !strings.Contains(m.err.Error(), "link is a link to models, which is not there") {
		t.Errorf("ended with %d and %v", m.code(), m.err)
	}
	if got, err := os.Readlink("link"); got != "models" {
		t.Errorf("the link is %q, %v", got, err)
	}
}

// TestPatternInPath verifies that a folder of checkpoints or exports whose absolute path has a
// character that TensorFlow takes for a pattern is one warning that names key and character, behind
// the start, and that the job writes there all the same. Curves are read by no TensorFlow model.
func TestPatternInPath(t *testing.T) {
	for _, key := range outputKeys {
		for _, c := range []string{"[", "]", "*", "?", `\`, "plain", " ", "{", "=", "é"} {
			for _, above := range []bool{false, true} {
				t.Run(fmt.Sprintf("key=%s/character=%s/above=%t", key, c, above), func(t *testing.T) {
					t.Chdir(t.TempDir())
					dir := "x" + c + "y"
					if above {
						if err := os.Mkdir(dir, 0o777); err != nil {
							t.Fatal(err)
						}
						t.Chdir(dir)
						dir = "run"
					}
					cfg := loadText(t, linearText)
					switch key {
					case "checkpoint.dir":
						cfg.Checkpoint.Dir = dir
					case "export.savedmodel":
						cfg.Export.SavedModel = dir
					default:
						cfg.Summary.Dir = dir
					}
					m := mustTrain(t, 2, cfg, linearData(), nil)[0]
					var want []string
					if strings.Contains(`[]*?\`, c) && key != "summary.dir" {
						want = []string{"TensorFlow takes " + c + " for a pattern and cannot load it"}
					}
					got := eventsOf[report.Warning](m)
					if !slices.EqualFunc(got, want, func(w report.Warning, text string) bool {
						return strings.HasPrefix(w.Cause, key+" is ") && strings.HasSuffix(w.Cause, text) && w.ExitCode == 0
					}) || kinds(m)[0] != "start" {
						t.Errorf("warnings are %+v, want %q", got, want)
					}
					if left, err := os.ReadDir(dir); len(left) == 0 {
						t.Errorf("nothing is written: %v", err)
					}
				})
			}
		}
	}
}

// TestStuck verifies that a job writes all its checkpoints and its export though an old checkpoint, the
// draft of a dead export and an old probe cannot be removed, here because of a link of the user's in
// them. It warns of each once.
func TestStuck(t *testing.T) {
	t.Chdir(t.TempDir())
	job := loadText(t, linearText, "checkpoint.dir=ckpt", "checkpoint.every=1", "checkpoint.keep=1", "train.steps=3", "export.savedmodel=export", "export.if=always")
	mustTrain(t, 2, job, linearData(), nil)
	old, err := filepath.Glob("ckpt/step-*")
	if err != nil || len(old) != 1 {
		t.Fatalf("%q, %v", old, err)
	}
	stuck := []string{"export/.probe.tmp-dead", old[0], "export/.ringtrain-export.tmp-dead"}
	hourAgo := time.Now().Add(-2 * time.Hour)
	for _, dir := range stuck {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.Symlink("elsewhere", filepath.Join(dir, "link")), os.Chtimes(dir, hourAgo, hourAgo)); err != nil {
			t.Fatal(err)
		}
	}
	job.Train.Steps = 10
	m := mustTrain(t, 2, job, linearData(), nil)[0]
	if w := eventsOf[report.Warning](m); !slices.EqualFunc(w, stuck, func(w report.Warning, dir string) bool {
		return w.Operation == "clean-up" && w.ExitCode == 0 && strings.HasPrefix(w.Cause, "cannot remove "+dir)
	}) {
		t.Errorf("warnings are %+v, want one of each of %q", w, stuck)
	}
	if n := countKind(m, "checkpoint"); n != 7 || countKind(m, "export") != 1 {
		t.Errorf("%d checkpoints and %d exports, want 7 and 1", n, countKind(m, "export"))
	}
	if path, _, found, err := checkpoint.Newest("ckpt"); !found || filepath.Base(path) != "step-000010" {
		t.Errorf("the newest checkpoint is %s, %v", path, err)
	}
}
