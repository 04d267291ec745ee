package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/export/bundle"
	"ringtrain/export/bundle/faultfs"
	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// state returns a state that differs by step.
func state(step int64) State {
	return State{
		Step: step,
		Tensors: []bundle.Tensor{
			bundle.Float32("softmax/bias", []int{2}, []float32{float32(step), -1}),
			bundle.Float32("softmax/bias/Momentum", []int{2}, []float32{0.5, float32(step)}),
		},
		Run: Run{
			Seed: 1<<63 + 5, Position: input.Position{Epoch: step / 3, Offset: step % 3}, Steps: 100,
			Epoch:   &EpochSum{Loss: 0.1 + Sum(step), Examples: step},
			Options: map[string]string{"input.batch": "7"}, JobFile: "name: x\n",
		},
	}
}

// quiet is a disk whose warnings nobody receives.
func quiet(fs bundle.FS) *bundle.Disk { return bundle.NewDisk(fs, func(error) {}) }

// Save claims dir without a job name, saves one checkpoint, and releases the folder.
func Save(fs bundle.FS, dir string, s State, keep int) (Saved, error) {
	f, err := Claim(context.Background(), quiet(fs), dir, "", nil)
	if err != nil {
		return Saved{}, err
	}
	saved, err := f.Save(s, keep)
	if failed := f.Close(); err == nil {
		err = failed
	}
	return saved, err
}

// Latest is Newest without the state.
func Latest(dir string) (path string, found bool, err error) {
	path, _, found, err = Newest(dir)
	return path, found, err
}

// save saves without syncs.
func save(t *testing.T, dir string, s State, keep int) Saved {
	t.Helper()
	fs := faultfs.New(faultfs.Once, 0, t.TempDir())
	saved, err := Save(fs, dir, s, keep)
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.Lose(); err != nil {
		t.Fatal(err)
	}
	return saved
}

// names returns the entries of a folder except the lease, separated by spaces.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if _, ok := parseLease(e.Name()); !ok {
			all = append(all, e.Name())
		}
	}
	return strings.Join(all, " ")
}

func wantLoad(t *testing.T, path string, want State) {
	t.Helper()
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s came back different:\n%s", path, diff)
	}
}

// TestSaveAndLoad verifies layout and content of a checkpoint, and that Load returns the
// saved state.
func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, found, err := Latest(dir); found || err != nil {
		t.Errorf("Latest of no folder = %v, %v, want neither", found, err)
	}
	save(t, dir, state(5), 2)
	saved, err := Save(bundle.OS, dir, state(123), 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "step-000123"); saved.Path != want || saved.Step != 123 {
		t.Errorf("saved %+v, want step 123 in %s", saved, want)
	}
	var size int64
	for _, name := range []string{"model.ckpt.index", "model.ckpt.data-00000-of-00001"} {
		info, err := os.Stat(filepath.Join(saved.Path, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if saved.Bytes != size {
		t.Errorf("saved %d bytes, the files have %d", saved.Bytes, size)
	}
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	want := "model_checkpoint_path: \"step-000123/model.ckpt\"\n" +
		"all_model_checkpoint_paths: \"step-000005/model.ckpt\"\n" +
		"all_model_checkpoint_paths: \"step-000123/model.ckpt\"\n"
	if err != nil || string(text) != want {
		t.Errorf("the state file is %q (%v), want %q", text, err, want)
	}
	for _, path := range []string{dir, saved.Path, filepath.Join(saved.Path, "model.ckpt")} {
		wantLoad(t, path, state(123))
	}
	wantLoad(t, filepath.Join(dir, "step-000005"), state(5))
}

// TestEqualStatesGiveEqualBytes verifies that a checkpoint contains only the state: no
// time, no path, no order of a map.
func TestEqualStatesGiveEqualBytes(t *testing.T) {
	a, b := save(t, t.TempDir(), state(7), 1).Path, save(t, t.TempDir(), state(7), 1).Path
	for _, name := range []string{prefixName + ".index", prefixName + ".data-00000-of-00001"} {
		x, err1 := os.ReadFile(filepath.Join(a, name))
		y, err2 := os.ReadFile(filepath.Join(b, name))
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs in two checkpoints of one state (%v, %v)", name, err1, err2)
		}
	}
}

// TestKeep verifies that Save removes the oldest checkpoints and updates the state file.
func TestKeep(t *testing.T) {
	for _, tt := range []struct {
		keep int
		want string
	}{
		{0, "checkpoint step-000001 step-000002 step-000003 step-000004"},
		{1, "checkpoint step-000004"},
		{3, "checkpoint step-000002 step-000003 step-000004"},
	} {
		t.Run(fmt.Sprintf("keep=%d", tt.keep), func(t *testing.T) {
			dir := t.TempDir()
			for step := range int64(4) {
				save(t, dir, state(step+1), tt.keep)
			}
			if got := names(t, dir); got != tt.want {
				t.Errorf("the folder has %s, want %s", got, tt.want)
			}
			paths, err := readState(dir)
			if kept := strings.Count(tt.want, "step"); err != nil || len(paths) != kept || paths[0] != "step-000004" {
				t.Errorf("the state file names %v (%v), want %d, step-000004 first", paths, err, kept)
			}
		})
	}
}

// TestPin verifies that Save keeps the newest checkpoint of a pinned step besides the
// keep newest, and removes it after another step was pinned.
func TestPin(t *testing.T) {
	dir := t.TempDir()
	f, err := Claim(t.Context(), quiet(bundle.OS), dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, tt := range []struct {
		step, pin int64
		keep      int
		want      string
	}{
		{1, 0, 1, "step-000001"},
		{2, 1, 1, "step-000001 step-000002"},
		{3, 1, 1, "step-000001 step-000003"},
		{4, 4, 1, "step-000004"},
		{5, 4, 2, "step-000004 step-000005"},
		{6, 4, 2, "step-000004 step-000005 step-000006"},
		{7, 9, 2, "step-000006 step-000007"},
	} {
		f.Pin(tt.pin)
		if _, err := f.Save(state(tt.step), tt.keep); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range strings.Fields(names(t, dir)) {
			if strings.HasPrefix(name, "step-") {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("after step %d with step %d pinned the folder has %q, want %s", tt.step, tt.pin, got, tt.want)
		}
		if path, found := f.OfStep(tt.pin); found != strings.Contains(tt.want, fmt.Sprintf("%06d", tt.pin)) || found && filepath.Base(path) != stepName(tt.pin, 0) {
			t.Errorf("step %d is found at %q: %t", tt.pin, path, found)
		}
	}
}

// TestSameStep verifies that a second Save of a step keeps the folder if the content is
// equal, and replaces it otherwise.
func TestSameStep(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, state(1), 2)
	first := save(t, dir, state(2), 2)
	before, err := os.Stat(filepath.Join(first.Path, "model.ckpt.index"))
	if err != nil {
		t.Fatal(err)
	}
	save(t, dir, state(2), 2)
	after, err := os.Stat(filepath.Join(first.Path, "model.ckpt.index"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("an equal checkpoint was replaced (%v)", err)
	}
	finished := state(2)
	finished.Run.Finished = true
	save(t, dir, finished, 2)
	wantLoad(t, dir, finished)
	if got, want := names(t, dir), "checkpoint step-000001 step-000002.1"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// TestNewRunInOldFolder verifies that a low step of a new run is newer than a high step
// of an earlier run, whose checkpoints are removed first.
func TestNewRunInOldFolder(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, state(900), 2)
	save(t, dir, state(1000), 2)
	save(t, dir, state(10), 2)
	wantLoad(t, dir, state(10))
	save(t, dir, state(20), 2)
	if got, want := names(t, dir), "checkpoint step-000010 step-000020"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// TestLeftovers verifies that readers ignore what a killed Save leaves, that the next
// Save removes it, and that foreign files stay.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, state(1), 1)
	for _, name := range []string{"step-000002.tmp-abc", "step-000001.replaced.tmp-abc", "step-000001.replaced", "mine.tmp-abc", "step-7"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "checkpoint.tmp-x"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	wantLoad(t, dir, state(1))
	save(t, dir, state(3), 1)
	if got, want := names(t, dir), "checkpoint mine.tmp-abc step-000003 step-7"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// TestLatestFallsBack damages the newest checkpoint in several ways. It verifies that
// Latest returns the previous checkpoint with an error about the newest, and that Load
// does not fall back.
func TestLatestFallsBack(t *testing.T) {
	flip := func(name string, at int) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "step-000002", name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[at] ^= 1
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
	}{
		{"data=flipped", flip("model.ckpt.data-00000-of-00001", 3)},
		{"index=flipped", flip("model.ckpt.index", 3)},
		{"data=missing", remove("step-000002/model.ckpt.data-00000-of-00001")},
		{"index=missing", remove("step-000002/model.ckpt.index")},
		{"folder=missing", remove("step-000002")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			save(t, dir, state(1), 2)
			save(t, dir, state(2), 2)
			tt.damage(t, dir)
			path, found, err := Latest(dir)
			if want := filepath.Join(dir, "step-000001"); !found || path != want {
				t.Errorf("Latest = %s, %v, want %s", path, found, want)
			}
			if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "step-000002") {
				t.Errorf("the reason is %v, want bad data that names step-000002", err)
			}
			if _, err := Load(dir); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "step-000001") {
				t.Errorf("Load: %v, want bad data that names the whole checkpoint", err)
			}
			wantLoad(t, path, state(1))
			if _, err := Load(filepath.Join(dir, "step-000002")); err == nil {
				t.Error("the damaged checkpoint was loaded")
			}
		})
	}
}

// TestNoWholeCheckpoint verifies that a folder with only damaged checkpoints is an
// error: otherwise the run would silently start from scratch.
func TestNoWholeCheckpoint(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("an empty folder: %v, exit code %d, want %d", err, exitcode.Of(err), exitcode.NoInput)
	}
	saved := save(t, dir, state(1), 1)
	if err := os.Truncate(filepath.Join(saved.Path, "model.ckpt.index"), 10); err != nil {
		t.Fatal(err)
	}
	if _, found, err := Latest(dir); found || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("Latest = %v, %v (exit code %d), want an error with %d", found, err, exitcode.Of(err), exitcode.BadData)
	}
}

// saveOld saves as versions without attempts did, without the state file.
func saveOld(t *testing.T, dir string, s State) {
	t.Helper()
	path := filepath.Join(dir, stepName(s.Step, 0))
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Write(bundle.OS, filepath.Join(path, prefixName), s.tensors(0)); err != nil {
		t.Fatal(err)
	}
}

// TestStateFileLost verifies that step folders are found without a state file and with a
// damaged one, ordered by attempt, then by step.
func TestStateFileLost(t *testing.T) {
	dir := t.TempDir()
	saveOld(t, dir, state(9))
	saveOld(t, dir, state(1000000))
	wantLoad(t, dir, state(1000000))
	save(t, dir, state(10), 0)
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte("model_checkpoint_path: step\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	path, found, err := Latest(dir)
	if !found || exitcode.Of(err) != exitcode.BadData || filepath.Base(path) != "step-000010" {
		t.Errorf("damaged state file: Latest = %s, %v, %v, want step-000010 and the reason", path, found, err)
	}
	if err := os.Remove(filepath.Join(dir, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	wantLoad(t, dir, state(10))
	save(t, dir, state(11), 2)
	if got, want := names(t, dir), "checkpoint step-000010 step-000011"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// TestOldFolder verifies that the state file orders checkpoints without an attempt.
func TestOldFolder(t *testing.T) {
	dir := t.TempDir()
	for _, step := range []int64{10, 900, 1000} {
		saveOld(t, dir, state(step))
	}
	text := formatState([]string{"step-000900", "step-000010"})
	if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var got []string
	all, err := candidates(dir)
	for _, c := range all {
		got = append(got, c.name)
	}
	if want := "[step-000010 step-000900 step-001000]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("newest first there are %v (%v), want %s", got, err, want)
	}
	save(t, dir, state(5), 2)
	wantLoad(t, dir, state(5))
	if got, want := names(t, dir), "checkpoint step-000005 step-000010"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// TestForeignRunState verifies that unreadable run state is an error.
func TestForeignRunState(t *testing.T) {
	for _, tt := range []struct{ name, run, want string }{
		{"schema=2", `{"schema":2}`, "schema 2"},
		{"json=broken", `{`, "_ringtrain/run"},
		{"epoch=negative", `{"schema":1,"epoch":{"loss":1,"examples":-3}}`, "epoch has -3 examples"},
		{"epoch=no number", `{"schema":1,"epoch":{"loss":"much","examples":3}}`, "_ringtrain/run"},
		{"step=none", `{"schema":1}`, "global_step"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "model.ckpt")
			if _, err := bundle.Write(bundle.OS, prefix, []bundle.Tensor{bundle.String(runTensor, tt.run)}); err != nil {
				t.Fatal(err)
			}
			_, err := Load(prefix)
			if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want bad data with %q", err, tt.want)
			}
		})
	}
}

// TestSum verifies that every float64, finite or not, keeps its bits in JSON.
func TestSum(t *testing.T) {
	for _, f := range []float64{0, 0.1, -1.0 / 3, math.Pi * 1e300, 5e-324, math.MaxFloat64, 1 << 60, math.Inf(1), math.Inf(-1), math.NaN()} {
		text, err := json.Marshal(Sum(f))
		if err != nil {
			t.Fatal(err)
		}
		var got Sum
		if err := json.Unmarshal(text, &got); err != nil || math.Float64bits(float64(got)) != math.Float64bits(f) {
			t.Errorf("%v is written as %s and read as %v, %v", f, text, got, err)
		}
	}
}

// TestSaveCannot verifies the exit code of Save and of Check for a location that cannot
// be written.
func TestSaveCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := Save(bundle.OS, dir, state(1), 1); exitcode.Of(err) != exitcode.CannotCreate {
			t.Errorf("Save into %s: %v, exit code %d, want %d", dir, err, exitcode.Of(err), exitcode.CannotCreate)
		}
		if err := bundle.Probe(quiet(bundle.OS), dir); exitcode.Of(err) != exitcode.CannotCreate || !strings.Contains(err.Error(), file) {
			t.Errorf("Check of %s: %v, exit code %d, want %d and the path", dir, err, exitcode.Of(err), exitcode.CannotCreate)
		}
	}
}

// TestReadWhileSaving verifies that a reader succeeds while a Save removes the checkpoints
// that it listed.
func TestReadWhileSaving(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, state(1), 1)
	saved := false
	path, found, err := newest(dir, func(path string) error {
		if !saved {
			saved = true
			save(t, dir, state(2), 1) // removes the listed checkpoint
		}
		_, err := load(path)
		return err
	})
	if want := filepath.Join(dir, "step-000002"); path != want || !found || err != nil {
		t.Errorf("the reader gets %s, %v, %v, want %s", path, found, err, want)
	}
}
