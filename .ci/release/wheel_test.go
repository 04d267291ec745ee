package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRemoveWheels verifies that the older wheels of an architecture go, and that all else stays.
func TestRemoveWheels(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ringtrain-1.1-py3-none-a_x86_64.whl", "ringtrain-1.2-py3-none-a_x86_64.whl", "ringtrain-1.1-py3-none-a_aarch64.whl", "other-1.1-py3-none-a_x86_64.whl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeWheels(dir, "amd64"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "other-1.1-py3-none-a_x86_64.whl" || filepath.Base(left[1]) != "ringtrain-1.1-py3-none-a_aarch64.whl" {
		t.Errorf("left are %q, error %v", left, err)
	}
}

// TestWheel verifies the name of a wheel and its entries: RECORD has the checksum and the size of each but itself, the
// binary is an executable script, WHEEL has both tags, and METADATA the version. It verifies that two runs give equal
// bytes.
func TestWheel(t *testing.T) {
	t.Chdir("../..")
	for arch, machine := range machines {
		name, data, err := wheel("v1.2.0", arch, testBinaries[arch], testTime)
		if err != nil {
			t.Fatal(err)
		}
		if want := "ringtrain-1.2.0-py3-none-manylinux2014_" + machine + ".musllinux_1_1_" + machine + ".whl"; name != want {
			t.Errorf("name is %s, want %s", name, want)
		}
		_, again, err := wheel("v1.2.0", arch, testBinaries[arch], testTime)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("two runs differ, error %v", err)
		}
		var record strings.Builder
		found := unzipped(t, data)
		for _, f := range found {
			if f.path == "ringtrain-1.2.0.dist-info/RECORD" {
				fmt.Fprintf(&record, "%s,,\n", f.path)
				continue
			}
			sum := sha256.Sum256(f.data)
			fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
		}
		entry := func(path string) file {
			i := slices.IndexFunc(found, func(f file) bool { return f.path == path })
			if i < 0 {
				t.Fatalf("no entry %s", path)
			}
			return found[i]
		}
		if got := string(entry("ringtrain-1.2.0.dist-info/RECORD").data); got != record.String() {
			t.Errorf("RECORD is\n%s\nwant\n%s", got, &record)
		}
		if script := entry("ringtrain-1.2.0.data/scripts/ringtrain"); script.mode != 0o755 || !bytes.Equal(script.data, testBinaries[arch]) {
			t.Errorf("the script has mode %o and is %q", script.mode, script.data)
		}
		if module := entry("ringtrain/__init__.py"); module.mode != 0o644 {
			t.Errorf("the module has mode %o", module.mode)
		}
		about := string(entry("ringtrain-1.2.0.dist-info/WHEEL").data)
		for _, line := range []string{"Root-Is-Purelib: false", "Tag: py3-none-manylinux2014_" + machine, "Tag: py3-none-musllinux_1_1_" + machine} {
			if !strings.Contains(about, line+"\n") {
				t.Errorf("WHEEL has no line %q:\n%s", line, about)
			}
		}
		if about := string(entry("ringtrain-1.2.0.dist-info/METADATA").data); !strings.Contains(about, "\nVersion: 1.2.0\n") || !strings.Contains(about, "\nRequires-Python: >=3.9\n") {
			t.Errorf("METADATA is\n%s", about)
		}
	}
}

// unzipped returns the entries of a .zip. It fails on one of another time.
func unzipped(t *testing.T, data []byte) (files []file) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || !f.Modified.Equal(testTime) {
			t.Errorf("%s: time %v, error %v", f.Name, f.Modified, err)
		}
		files = append(files, file{f.Name, int64(f.Mode()), data})
	}
	return files
}

// TestPythonVersion verifies that each version of a release becomes one of PEP 440, in the order of the commits.
func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v0.2.0": "0.2.0", "1.10": "1.10", "v0.2.0-dirty": "0.2.0+dirty",
		"v0.2.0-3-g1a2b3c4": "0.2.0.post3+g1a2b3c4", "0.2.0-12-gc0ffee1-dirty": "0.2.0.post12+gc0ffee1.dirty",
		"v0.3.0-rc1": "0.3.0rc1", "0.3.0rc.2-1-g1a2b3c4": "0.3.0rc2.post1+g1a2b3c4",
		"c0ffee1": "0+gc0ffee1", "29187124-dirty": "0+g29187124.dirty", "Night_7+": "0+gnight.7",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("pythonVersion(%q) = %q, want %q", version, got, want)
		}
	}
}
