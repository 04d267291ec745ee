package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
)

// farm is a folder of models with a watcher whose versions are loaded from a file "graph": one with the
// text "bad…" is refused with this text.
type farm struct {
	*Watcher
	t        *testing.T
	dir      string
	lines    []string // what people are told
	unloaded []string // version folders, in order
}

func newFarm(t *testing.T, as Base) *farm {
	f := &farm{t: t, dir: t.TempDir()}
	d := &Directory{path: f.dir, as: as, found: map[string]string{}}
	f.Watcher = NewWatcher(NewModels(), d.Bases, &Loader{}, Notice{
		Line:   func(text string) { f.lines = append(f.lines, strings.ReplaceAll(text, f.dir, "DIR")) },
		Loaded: func(v *Version, _ bool) { f.lines = append(f.lines, fmt.Sprintf("%s %d", v.Name, v.Number)) },
	})
	f.Watcher.open = f.open
	return f
}

func (f *farm) open(_ context.Context, name string, at folder) (*Version, error) {
	text, err := os.ReadFile(filepath.Join(at.path, "graph"))
	if err == nil && strings.HasPrefix(string(text), "bad") {
		err = errors.New(string(text))
	}
	if err != nil {
		return nil, err
	}
	v := &Version{Model: &interpreter.Model{}, Name: name, Number: at.number, Path: at.path}
	v.users.Store(1)
	v.unload = func() { f.unloaded = append(f.unloaded, at.path[len(f.dir)+1:]) }
	return v, nil
}

// put writes the graph of a version folder.
func (f *farm) put(folder, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.dir, folder), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, folder, "graph"), []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *farm) remove(folder string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, folder)); err != nil {
		f.t.Fatal(err)
	}
}

// look looks, and returns what people were told since the last look.
func (f *farm) look() []string {
	f.lines = nil
	f.Look(f.t.Context())
	return f.lines
}

// wants fails the test unless the lines have these parts, in order.
func wants(t *testing.T, what string, lines []string, parts ...string) {
	t.Helper()
	same := len(lines) == len(parts)
	for i := 0; same && i < len(parts); i++ {
		same = strings.Contains(lines[i], parts[i])
	}
	if !same {
		t.Errorf("%s: %q, want %q", what, lines, parts)
	}
}

// states returns the states of a model, the newest version first.
func (f *farm) states(name string) string {
	all, err := f.models.Status(name, Choice{})
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprint(s.Number, " ", s.Phase))
	}
	return strings.Join(words, ", ")
}

// TestCheckpointsAreNoVersions verifies that a folder of checkpoints is told from one that is empty.
func TestCheckpointsAreNoVersions(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "step-000408.index"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := NewDirectory(dir, Base{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Bases(); err == nil || !strings.Contains(err.Error(), "has checkpoints and no version of a model: ringtrain export JOB --to DIR makes") {
		t.Errorf("error %v", err)
	}
}

// TestWatch verifies the life of versions: one is published, replaced while a request holds it, and ends
// when the request has; one that is deleted stays until another replaces it.
func TestWatch(t *testing.T) {
	f := newFarm(t, Base{Name: "m", Policy: Policy{Latest: 1}})
	wants(t, "empty", f.look(), "no version of a model lies in DIR")
	wants(t, "still empty", f.look())
	if f.models.Ready() {
		t.Error("ready without a model")
	}
	f.put("1", "")
	wants(t, "first", f.look(), "m 1")
	if !f.models.Ready() {
		t.Error("not ready with a version")
	}
	held, err := f.models.Acquire("m", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	f.put("2", "")
	wants(t, "second", f.look(), "m 2")
	if got := f.states("m"); got != "2 AVAILABLE, 1 UNLOADING" || len(f.unloaded) > 0 {
		t.Errorf("states %q, unloaded %q while a request holds version 1", got, f.unloaded)
	}
	held.Release()
	f.remove("1")
	f.remove("2")
	wants(t, "deleted", f.look())
	if got := f.states("m"); got != "2 AVAILABLE, 1 END" || !slices.Equal(f.unloaded, []string{"1"}) {
		t.Errorf("states %q, unloaded %q after the request", got, f.unloaded)
	}
	f.put("3", "")
	wants(t, "replaced", f.look(), "m 3")
	if !slices.Equal(f.unloaded, []string{"1", "2"}) {
		t.Errorf("unloaded %q, want 1 and 2", f.unloaded)
	}
	f.models.Close()
	if !slices.Equal(f.unloaded, []string{"1", "2", "3"}) {
		t.Errorf("unloaded %q after the end", f.unloaded)
	}
}

// TestRefused verifies that a version which cannot be loaded is told once, has its reason in its status,
// leaves the old one in its place, and is loaded when its files have changed and are at rest.
func TestRefused(t *testing.T) {
	f := newFarm(t, Base{Name: "m", Policy: Policy{Latest: 1}})
	f.put("1", "")
	f.put("2", "bad op")
	wants(t, "first look", f.look(), "version 2 is not served, and is tried again when its files change: bad op", "m 1")
	wants(t, "at rest", f.look())
	two := int64(2)
	s, err := f.models.Status("m", Choice{Number: &two})
	if err != nil || len(s) != 1 || s[0].Phase != servingpb.ModelVersionStatus_END || status.Convert(s[0].Err).Message() != "bad op" {
		t.Errorf("status %v, %v, want END by bad op", s, err)
	}
	f.put("2", "bad file, other")
	wants(t, "changed", f.look())
	wants(t, "changed, at rest", f.look(), "bad file, other")
	f.put("2", "good")
	wants(t, "mended", f.look())
	wants(t, "mended, at rest", f.look(), "m 2")
	if got := f.states("m"); got != "2 AVAILABLE, 1 END" {
		t.Errorf("states %q", got)
	}
}

// TestTwoFoldersOfOneNumber verifies that neither of two folders with one number is loaded, and that the
// one that is left is.
func TestTwoFoldersOfOneNumber(t *testing.T) {
	f := newFarm(t, Base{Name: "m"})
	f.Watcher.open = func(ctx context.Context, name string, at folder) (*Version, error) {
		if at.twin != "" {
			return (&Loader{}).load(ctx, name, at)
		}
		return f.open(ctx, name, at)
	}
	f.put("3", "")
	f.put("003", "")
	wants(t, "twins", f.look(), "two folders have the number 3: DIR/3 and DIR/003")
	f.remove("3")
	wants(t, "one left", f.look(), "m 3")
}

// TestDirectory verifies that a directory is a base or a folder of bases, that new models are found, and
// that a model stays whose folder is gone.
func TestDirectory(t *testing.T) {
	f := newFarm(t, Base{})
	f.put("a/1", "")
	f.put("b/7", "")
	f.put("other/x", "")
	f.put(".hidden/1", "")
	wants(t, "folder of bases", f.look(), "a 1", "b 7")
	f.put("c/2", "")
	f.remove("a")
	wants(t, "new model", f.look(), "DIR/a", "c 2")
	if names := f.models.Names(); !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("models %q, want a, b, c", names)
	}
	if _, err := f.models.Acquire("a", Choice{}); err != nil {
		t.Error(err)
	}
}

// TestNewDirectory verifies that a folder which cannot hold models is refused by its reason.
func TestNewDirectory(t *testing.T) {
	f := newFarm(t, Base{})
	f.put("a/1", "")
	f.put("b/1", "")
	f.put("c", "")
	for _, name := range []string{"a/1/saved_model.pb", "c/m.keras"} {
		if err := os.WriteFile(filepath.Join(f.dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		folder string
		as     Base
		want   string
	}{
		{"none", Base{}, "want a folder of models"},
		{"a/1", Base{}, "is one version of a model, want its base: " + filepath.Join(f.dir, "a")},
		{"", Base{Name: "m"}, "--name is m"},
		{"c/m.keras", Base{}, "m.keras is a model file of Keras, want a SavedModel"},
	} {
		if _, err := NewDirectory(filepath.Join(f.dir, tt.folder), tt.as); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.folder, err, tt.want)
		}
	}
	d, err := NewDirectory(filepath.Join(f.dir, "c"), Base{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Bases(); err == nil || !strings.Contains(err.Error(), "c/m.keras is a model file of Keras") {
		t.Errorf("a folder with a file of Keras: error %v", err)
	}
	d, err = NewDirectory(filepath.Join(f.dir, "a"), Base{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := d.Bases(); err != nil || len(b) != 1 || b[0].Name != "a" {
		t.Errorf("bases %v, %v, want a", b, err)
	}
}

// TestChoices verifies which version a request gets, and the status of each that it cannot get.
func TestChoices(t *testing.T) {
	f := newFarm(t, Base{Name: "m", Labels: map[string]int64{"stable": 2, "gone": 9}})
	f.put("1", "")
	f.put("2", "")
	f.put("3", "")
	f.look()
	f.models.describe([]Base{{Name: "m", Labels: map[string]int64{"stable": 2, "gone": 9}}, {Name: "empty"}})
	number := func(n int64) Choice { return Choice{Number: &n} }
	for _, tt := range []struct {
		name string
		want Choice
		got  int64
		code codes.Code
	}{
		{"m", Choice{}, 3, codes.OK},
		{"m", number(1), 1, codes.OK},
		{"m", Choice{Label: "stable"}, 2, codes.OK},
		{"m", number(9), 0, codes.NotFound},
		{"m", number(0), 0, codes.NotFound},
		{"m", Choice{Label: "gone"}, 0, codes.InvalidArgument},
		{"m", Choice{Label: "canary"}, 0, codes.InvalidArgument},
		{"n", Choice{}, 0, codes.NotFound},
		{"empty", Choice{}, 0, codes.NotFound},
	} {
		v, err := f.models.Acquire(tt.name, tt.want)
		if status.Code(err) != tt.code || err == nil && v.Number != tt.got {
			t.Errorf("model %s, %v: version %v, error %v; want %d, %v", tt.name, tt.want, v, err, tt.got, tt.code)
		}
	}
	if s, err := f.models.Status("m", Choice{Label: "stable"}); err != nil || len(s) != 1 || !slices.Equal(s[0].Labels, []string{"stable"}) {
		t.Errorf("status of the label: %v, %v", s, err)
	}
	if _, err := f.models.Status("m", number(9)); status.Code(err) != codes.NotFound {
		t.Errorf("status of version 9: %v", err)
	}
	f.models.Leave()
	if _, err := f.models.Acquire("m", Choice{}); f.models.Ready() || err != nil {
		t.Errorf("a server that ends is ready or does not answer: %v", err)
	}
}

// TestRunPolls verifies that a version which appears while the watcher runs is loaded at the next poll.
func TestRunPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, Base{Name: "m", Policy: Policy{Latest: 1}})
		f.put("1", "")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Run(ctx, time.Minute)
		}()
		synctest.Wait()
		f.put("2", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		wants(t, "two looks", f.lines, "m 1", "m 2")
		cancel()
		<-ended
	})
}
