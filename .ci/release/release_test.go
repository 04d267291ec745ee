package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	testTime     = time.Unix(1_700_000_000, 0).UTC()
	testBinaries = map[string][]byte{"amd64": []byte("binary of amd64"), "arm64": []byte("binary of arm64")}
	testShared   = []file{{"doc/LICENSE", 0o644, []byte("licence")}, {"doc/CHANGELOG.md", 0o644, []byte("changes")}, {"man/man1/ringtrain.1", 0o644, []byte(".TH")}}
)

// entries returns the files of a .tar by name. It fails on an entry that stands there twice.
func entries(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(a)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := found[h.Name]; twice || !h.ModTime.Equal(testTime) {
			t.Errorf("entry %s: there before %t, time %v, want once and %v", h.Name, twice, h.ModTime, testTime)
		}
		found[h.Name] = string(data)
	}
}

// TestTarball verifies the files of an archive, and that two runs give equal bytes.
func TestTarball(t *testing.T) {
	first, err := tarball("ringtrain-1.0-linux-amd64", testBinaries["amd64"], testShared, testTime)
	if err != nil {
		t.Fatal(err)
	}
	again, err := tarball("ringtrain-1.0-linux-amd64", testBinaries["amd64"], testShared, testTime)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("two runs differ, error %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	got := entries(t, z)
	want := []string{"ringtrain-1.0-linux-amd64/", "ringtrain-1.0-linux-amd64/CHANGELOG.md", "ringtrain-1.0-linux-amd64/LICENSE", "ringtrain-1.0-linux-amd64/man/",
		"ringtrain-1.0-linux-amd64/man/man1/", "ringtrain-1.0-linux-amd64/man/man1/ringtrain.1", "ringtrain-1.0-linux-amd64/ringtrain"}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("entries are %q, want %q", names, want)
	}
	if got["ringtrain-1.0-linux-amd64/ringtrain"] != "binary of amd64" {
		t.Errorf("binary is %q", got["ringtrain-1.0-linux-amd64/ringtrain"])
	}
}

// TestImage verifies that each blob has the digest that names it, that the index leads to
// the binary of each architecture, and that two runs give equal bytes.
func TestImage(t *testing.T) {
	data, err := image("1.0", testBinaries, testTime)
	if err != nil {
		t.Fatal(err)
	}
	again, err := image("1.0", testBinaries, testTime)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("two runs differ, error %v", err)
	}
	found := entries(t, bytes.NewReader(data))
	blob := func(digest string) []byte {
		name := strings.TrimPrefix(digest, "sha256:")
		text := found["blobs/sha256/"+name]
		if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != name {
			t.Errorf("blob %s has digest %x", name, sum)
		}
		return []byte(text)
	}
	read := func(data []byte, v any) {
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
	}
	var top, index struct{ Manifests []descriptor }
	read([]byte(found["index.json"]), &top)
	read(blob(top.Manifests[0].Digest), &index)
	if len(index.Manifests) != len(architectures) {
		t.Fatalf("index has %d manifests, want %d", len(index.Manifests), len(architectures))
	}
	for i, m := range index.Manifests {
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		read(blob(m.Digest), &manifest)
		var config struct {
			Architecture string
			Rootfs       struct {
				Diff []string `json:"diff_ids"`
			}
		}
		read(blob(manifest.Config.Digest), &config)
		if config.Architecture != architectures[i] || m.Platform.Architecture != architectures[i] {
			t.Errorf("manifest %d is of %s and %s, want %s", i, m.Platform.Architecture, config.Architecture, architectures[i])
		}
		z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0].Digest)))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(layer); config.Rootfs.Diff[0] != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("diff id is %s, want that of the layer, %x", config.Rootfs.Diff[0], sum)
		}
		if got := entries(t, bytes.NewReader(layer))["ringtrain"]; got != string(testBinaries[architectures[i]]) {
			t.Errorf("binary of %s is %q", architectures[i], got)
		}
	}
}

// TestDebian verifies that dpkg-deb reads the package and finds each file in its place.
func TestDebian(t *testing.T) {
	data, err := debian("v1.0", "amd64", testBinaries["amd64"], testShared, testTime)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte("!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n2.0\n")) {
		t.Errorf("package begins with %q", data[:80])
	}
	if _, err := debian("v1.0", "amd64", nil, []file{{"stray", 0, nil}}, testTime); err == nil {
		t.Error("a file without a place is taken")
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("dpkg-deb is not on this machine: the package is not read by Debian's own tool")
	}
	name := filepath.Join(t.TempDir(), "a.deb")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	fields, err := exec.Command(dpkg, "--field", name, "Package", "Version", "Architecture").CombinedOutput()
	if want := "Package: ringtrain\nVersion: 1.0\nArchitecture: amd64\n"; string(fields) != want || err != nil {
		t.Errorf("fields are %q, %v, want %q", fields, err, want)
	}
	out := t.TempDir()
	if said, err := exec.Command(dpkg, "--extract", name, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for path, want := range map[string]string{"usr/bin/ringtrain": "binary of amd64", "usr/share/doc/ringtrain/copyright": "licence"} {
		if got, err := os.ReadFile(filepath.Join(out, path)); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(out, "usr/bin/ringtrain")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode of the binary is %v, %v, want 0755", info, err)
	}
}

// TestVersions verifies which versions a release takes, and how Debian spells them.
func TestVersions(t *testing.T) {
	for version, want := range map[string]string{"v0.2.0": "0.2.0", "0.2.0-3-g1a2b3c4": "0.2.0-3-g1a2b3c4", "c0ffee1": "0~c0ffee1", "52065a4": "52065a4"} {
		if got := debianVersion(version); got != want {
			t.Errorf("debianVersion(%q) = %q, want %q", version, got, want)
		}
	}
	for _, bad := range []string{"", "a b", "../x", "-1"} {
		if err := release(io.Discard, bad, testTime, t.TempDir()); err == nil || !strings.Contains(err.Error(), "-version") {
			t.Errorf("release(%q) = %v, want an error that names -version", bad, err)
		}
	}
	if err := release(io.Discard, "1", time.Unix(0, 0), t.TempDir()); err == nil || !strings.Contains(err.Error(), "-time") {
		t.Errorf("release at time 0 = %v, want an error that names -time", err)
	}
}

// TestList verifies the lines of the files that a release ends with.
func TestList(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "a"), make([]byte, 1536), 0o600); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := list(&b, out, []string{"a"}); err != nil || b.String() != "      1.5 KiB  "+filepath.Join(out, "a")+"\n" {
		t.Errorf("says %q, error %v", b.String(), err)
	}
	if err := list(&b, out, []string{"b"}); err == nil {
		t.Error("a file that is not there is listed")
	}
}
