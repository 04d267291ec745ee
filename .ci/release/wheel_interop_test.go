package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInteropWheel verifies with Python's own tools that the wheel of this machine can be taken for glibc and for musl,
// that auditwheel finds no library that it needs, and that it installs into fresh environments, with pandas and without.
// In each it runs the tests of the module.
func TestInteropWheel(t *testing.T) {
	python := os.Getenv("NOTEBOOK_PYTHON")
	if python == "" {
		t.Skip("set NOTEBOOK_PYTHON to a python with what deploy/python/interop.txt lists")
	}
	t.Chdir("../..")
	t.Setenv("TMPDIR", t.TempDir()) // a Python that a test kills leaves its folders there
	dist := t.TempDir()
	if err := wheelHere(io.Discard, "v1.2.0-3-gc0ffee1", testTime, dist); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(dist + "/*.whl")
	if err != nil || len(found) != 1 {
		t.Fatalf("wheels %v, error %v", found, err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	for _, platform := range []string{"manylinux2014_", "musllinux_1_1_"} {
		run(python, "-m", "pip", "download", "--no-index", "--find-links", dist, "--no-deps", "--only-binary=:all:", "--python-version", "3.9",
			"--platform", platform+machines[runtime.GOARCH], "--dest", t.TempDir(), "ringtrain")
	}
	if said := run(python, "-m", "auditwheel", "show", found[0]); !strings.Contains(said, "requires no external shared libraries") {
		t.Errorf("auditwheel says\n%s", said)
	}
	packages := strings.TrimSpace(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
	for name, has := range map[string]string{"bare": "", "pandas": packages} {
		t.Run("environment="+name, func(t *testing.T) {
			venv := t.TempDir()
			run(python, "-m", "venv", venv)
			own := filepath.Join(venv, "bin", "python")
			run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", found[0])
			site := strings.TrimSpace(run(own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
			if err := os.WriteFile(filepath.Join(site, "others.pth"), []byte(has+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if v := run(own, "-c", "import ringtrain; print(ringtrain.__version__)"); v != "1.2.0.post3+gc0ffee1\n" {
				t.Errorf("__version__ is %q", v)
			}
			if v := run(filepath.Join(venv, "bin", "ringtrain"), "version"); !strings.HasPrefix(v, "ringtrain v1.2.0-3-gc0ffee1") {
				t.Errorf("the program says %q", v)
			}
			said := run(own, "-W", "error::ResourceWarning", "-m", "unittest", "discover", "--start-directory", "deploy/python/tests")
			t.Log(said[strings.LastIndex(said, "\nRan ")+1:])
			if skipped := strings.Contains(said, "skipped="); skipped != (has == "") {
				t.Errorf("tests are skipped: %t\n%s", skipped, said)
			}
		})
	}
}
