package savedmodel

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/bundle/faultfs"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// filled returns a model's variables with values.
func filled(g *graph.Graph) []Variable {
	vars := variablesOf(g)
	for i := range vars {
		n := 1
		for _, k := range vars[i].Shape {
			n *= k
		}
		for j := range n {
			vars[i].Value = append(vars[i].Value, float32(i)+float32(j)/16)
		}
	}
	return vars
}

// trained returns the result of seven steps.
func trained(g *graph.Graph) Trained {
	return Trained{Names: DefaultNames(), Step: 7, Variables: filled(g)}
}

// testDisk returns the disk of one export, which has nothing to warn of.
func testDisk() *bundle.Disk { return bundle.NewDisk(bundle.OS, nil) }

func softmax() *graph.Graph { return graphs()["softmax"] }

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestWriteAndRead verifies that each kind of model is read back as it was exported.
func TestWriteAndRead(t *testing.T) {
	for kind, d := range graphs() {
		base := filepath.Join(t.TempDir(), "a", "b")
		vars := filled(d)
		verified := ""
		path, err := Write(testDisk(), base, d, Trained{Names: DefaultNames(), Step: 7, Variables: vars}, func(dir string) (Extra, error) {
			verified = dir
			if names := list(t, base); !slices.Equal(names, []string{filepath.Base(dir)}) || !strings.HasPrefix(names[0], draftMark) {
				t.Errorf("%s: while it is verified the base has %v, want a temporary folder", kind, names)
			}
			b, err := Read(dir)
			if err == nil && b.Path != dir {
				t.Errorf("%s: the temporary folder was read as %s", kind, b.Path)
			}
			return Extra{"more.txt": []byte("of the proof")}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(path, extraFolder, "more.txt")); err != nil || string(text) != "of the proof" {
			t.Errorf("%s: what the proof returned is %q, error %v", kind, text, err)
		}
		if want := filepath.Join(base, "1"); path != want || verified == "" {
			t.Errorf("%s: written at %s, verified %q, want %s", kind, path, verified, want)
		}
		if got := list(t, base); !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s: the base has %v, want only 1", kind, got)
		}
		for _, from := range []string{base, path} {
			b, err := Read(from)
			if err != nil {
				t.Fatal(err)
			}
			if b.Path != path || b.Step != 7 || len(b.Signatures) < 2 {
				t.Errorf("%s: read %s, step %d, %d signatures", kind, b.Path, b.Step, len(b.Signatures))
			}
			sameValues(t, kind, b.Variables, vars)
		}
	}
}

// sameValues verifies that got has the values of want and the step.
func sameValues(t *testing.T, kind string, got []bundle.Tensor, want []Variable) {
	t.Helper()
	if len(got) != len(want)+1 {
		t.Errorf("%s: %d variables and a step, want %d", kind, len(got)-1, len(want))
	}
	for _, v := range want {
		i := slices.IndexFunc(got, func(x bundle.Tensor) bool { return x.Name == v.Name })
		if i < 0 {
			t.Errorf("%s: no variable %s", kind, v.Name)
			continue
		}
		values, err := got[i].Float32s()
		if err != nil || !slices.Equal(values, v.Value) || !slices.Equal(got[i].Shape, dims(v)) {
			t.Errorf("%s: variable %s came back different (%v)", kind, v.Name, err)
		}
	}
}

// TestBytes verifies the reported size, and that equal models give equal bytes in any
// folder.
func TestBytes(t *testing.T) {
	read := func(dir string) (all []byte) {
		for _, name := range []string{modelFile, "variables/variables.index", "variables/variables.data-00000-of-00001"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	var exports [][]byte
	for range 2 {
		path, err := Write(testDisk(), t.TempDir(), softmax(), trained(softmax()), nil)
		if err != nil {
			t.Fatal(err)
		}
		exports = append(exports, read(path))
	}
	if !bytes.Equal(exports[0], exports[1]) {
		t.Error("two exports of one model differ")
	}
}

// TestVersions verifies that the next version is above every name that a server takes
// for a number, and that nothing is overwritten.
func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		there string
		want  int64
	}{
		{"", 1}, {"1 2", 3}, {"7 00000012", 13}, {"0", 1}, {"-3 x9 9x .tmp-1", 1}, {"5 10", 11},
	} {
		base := t.TempDir()
		for _, name := range strings.Fields(tt.there) {
			if err := os.Mkdir(filepath.Join(base, name), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		path, err := Write(testDisk(), base, softmax(), trained(softmax()), nil)
		if err != nil || path != filepath.Join(base, fmt.Sprint(tt.want)) {
			t.Errorf("beside %q: version at %s (%v), want %d", tt.there, path, err, tt.want)
		}
	}
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, fmt.Sprint(int64(math.MaxInt64))), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Check(bundle.NewDisk(bundle.OS, nil), base); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("no number left: Check says %v, exit code %d, want %d", err, exitcode.Of(err), exitcode.CannotCreate)
	}
}

// TestRefused verifies that an export that verify refuses leaves nothing, not even new
// parent folders.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	wrong := errors.New("the scores differ")
	_, err := Write(testDisk(), filepath.Join(dir, "a", "b"), softmax(), trained(softmax()), func(string) (Extra, error) { return nil, wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("error is %v, want %v", err, wrong)
	}
	if left := list(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestVariablesMustFit verifies that Write refuses variables that TensorFlow would
// accept without an error.
func TestVariablesMustFit(t *testing.T) {
	whole := filled(softmax())
	for _, tt := range []struct {
		name, want string
		vars       []Variable
	}{
		{"missing", "softmax/bias is missing", whole[:1]},
		{"superfluous", "extra is not in the model", append(slices.Clone(whole), Variable{"extra", []int{1}, []float32{1}})},
		{"shape", "want [4 3]", []Variable{{"softmax/kernel", []int{3, 4}, whole[0].Value}, whole[1]}},
		{"values", "want [3]", []Variable{whole[0], {"softmax/bias", []int{3}, []float32{1}}}},
	} {
		base := filepath.Join(t.TempDir(), "x")
		_, err := Write(testDisk(), base, softmax(), Trained{Names: DefaultNames(), Variables: tt.vars}, nil)
		if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want bad data with %q", tt.name, err, tt.want)
		}
		if _, err := os.Stat(base); err == nil {
			t.Errorf("%s: something was written", tt.name)
		}
	}
}

// TestFaults lets every call fail in turn. It verifies that a server never sees a part
// of a version, and that nothing is left unless the process died.
func TestFaults(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // many files: spare the disk
	}
	d := softmax()
	run := func(mode faultfs.Mode, n int) (base string, fs *faultfs.FS, err error) {
		base = filepath.Join(t.TempDir(), "base", "mnist")
		fs = faultfs.New(mode, n, t.TempDir())
		_, err = writer{bundle.NewDisk(fs, func(error) {}), base}.write(content{model: build(d, DefaultNames()), trained: trained(d)}, nil)
		return base, fs, err
	}
	_, dry, err := run(faultfs.Once, 0)
	if err != nil {
		t.Fatal(err)
	}
	if dry.Calls() < 10 {
		t.Errorf("only %d calls can fail", dry.Calls())
	}
	for _, mode := range []faultfs.Mode{faultfs.Once, faultfs.Crash, faultfs.Power} {
		for n := 1; n <= dry.Calls(); n++ {
			name := fmt.Sprintf("mode=%v/call=%d", mode, n)
			base, fs, err := run(mode, n)
			if exitcode.Of(err) != exitcode.IO {
				t.Errorf("%s: error is %v, exit code %d, want %d", name, err, exitcode.Of(err), exitcode.IO)
			}
			if err := fs.Lose(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Dir(base)); mode == faultfs.Once && err == nil {
				t.Errorf("%s: the folder that was made for it is still there", name)
			}
			if b, err := Read(base); err == nil {
				sameValues(t, name, b.Variables, filled(d))
			} else if exitcode.Of(err) != exitcode.NoInput {
				t.Errorf("%s: a reader sees a part: %v", name, err)
			}
		}
	}
}

// TestCheck verifies that Check finds a location that cannot be written.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if err := Check(bundle.NewDisk(bundle.OS, nil), filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if left := list(t, dir); len(left) > 0 {
		t.Errorf("Check left %v", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{file, filepath.Join(file, "below")} {
		if err := Check(bundle.NewDisk(bundle.OS, nil), base); exitcode.Of(err) != exitcode.CannotCreate || !strings.Contains(err.Error(), file) {
			t.Errorf("Check of %s: %v, exit code %d, want %d and the path", base, err, exitcode.Of(err), exitcode.CannotCreate)
		}
		if _, err := Write(testDisk(), base, softmax(), trained(softmax()), nil); exitcode.Of(err) != exitcode.CannotCreate {
			t.Errorf("Write into %s: %v, exit code %d, want %d", base, err, exitcode.Of(err), exitcode.CannotCreate)
		}
	}
}

// TestReadFaults verifies the exit codes for missing and damaged exports.
func TestReadFaults(t *testing.T) {
	base := t.TempDir()
	if _, err := Read(base); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("an empty base: %v, exit code %d, want %d", err, exitcode.Of(err), exitcode.NoInput)
	}
	path, err := Write(testDisk(), base, softmax(), trained(softmax()), nil)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(path, "variables/variables.data-00000-of-00001")
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	for file, content := range map[string][]byte{
		data:                           b,
		filepath.Join(path, modelFile): []byte("not a model"),
	} {
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(base); exitcode.Of(err) != exitcode.BadData {
			t.Errorf("damaged %s: %v, exit code %d, want %d", file, err, exitcode.Of(err), exitcode.BadData)
		}
	}
}

// TestReadTensorFlow verifies that Read reads the models that TensorFlow wrote, with the types of their tensors,
// of which some are references to variables.
func TestReadTensorFlow(t *testing.T) {
	n := 0
	for path, m := range tensorFlowModels(t) {
		b, err := Read(filepath.Dir(path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		n++
		if want := len(m.MetaGraphs[0].SignatureDef); len(b.Signatures) != want {
			t.Errorf("%s: %d signatures, want %d", path, len(b.Signatures), want)
		}
		for _, s := range b.Signatures {
			for _, e := range slices.Concat(s.Inputs, s.Outputs) {
				if name := e.DType.String(); name != "type 0" && strings.HasPrefix(name, "type ") { // 0 is that of an operation
					t.Errorf("%s: %s of %s has the %s, want the name of a type", path, e.Key, s.Name, name)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("met %d models, want 10 at least", n)
	}
}

// TestGraphsThatMakeNoSense verifies that build panics on an invalid graph.
func TestGraphsThatMakeNoSense(t *testing.T) {
	for name, change := range map[string]func(g *graph.Graph){
		"nodes=none":    func(g *graph.Graph) { g.Nodes = nil },
		"op=unknown":    func(g *graph.Graph) { g.Nodes[0].Op = "conv" },
		"head=misfit":   func(g *graph.Graph) { g.Head.Classes++ },
		"inputs=sparse": func(g *graph.Graph) { g.Inputs[0].Kind = graph.Sparse },
		"inputs=two":    func(g *graph.Graph) { g.Inputs = append(g.Inputs, g.Inputs[0]) },
	} {
		g := softmax()
		change(g)
		t.Run(name, func(t *testing.T) {
			defer func() {
				if fault, _ := recover().(string); !strings.HasPrefix(fault, "savedmodel: ") {
					t.Errorf("build panics with %q, want words that begin with savedmodel:", fault)
				}
			}()
			build(g, DefaultNames())
		})
	}
}
