package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInteropImage verifies that skopeo reads the image of each architecture, that it copies the
// image into the forms of registries and of docker load, and that it compares the digests.
func TestInteropImage(t *testing.T) {
	program, err := exec.LookPath("skopeo")
	if err != nil {
		t.Skip("skopeo is not on this machine: no other program reads the container image")
	}
	data, err := image("1.0", testBinaries, testTime)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := "oci-archive:" + filepath.Join(dir, "image.tar")
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	skopeo := func(args ...string) ([]byte, error) {
		cmd := exec.Command(program, append([]string{"--tmpdir", dir, "--insecure-policy"}, args...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Logf("skopeo %q: %v: %s", args, err, &stderr)
		}
		return out, err
	}
	write("image.tar", data)
	for _, arch := range architectures {
		var about struct {
			Architecture, Os string
			Labels           map[string]string
			Layers           []string
		}
		out, err := skopeo("--override-arch", arch, "inspect", source)
		if err != nil || json.Unmarshal(out, &about) != nil {
			t.Fatalf("%s: skopeo inspect = %v, %s", arch, err, out)
		}
		if about.Architecture != arch || about.Os != "linux" || about.Labels["org.opencontainers.image.version"] != "1.0" || len(about.Layers) != 1 {
			t.Errorf("%s: the image is %+v, want version 1.0 of linux/%[1]s in one layer", arch, about)
		}
		if _, err := skopeo("--override-arch", arch, "copy", source, "docker-archive:"+filepath.Join(dir, arch+".tar")+":ringtrain:1.0"); err != nil {
			t.Errorf("%s: the image cannot be copied for docker load", arch)
		}
	}
	if _, err := skopeo("copy", "--all", source, "dir:"+filepath.Join(dir, "all")); err != nil {
		t.Error("the image of both architectures cannot be copied")
	}

	// A changed label has another digest than the one that names its blob.
	changed := bytes.Replace(data, []byte(`"org.opencontainers.image.version":"1.0"`), []byte(`"org.opencontainers.image.version":"1.1"`), 1)
	if bytes.Equal(changed, data) {
		t.Fatal("no label of the image has the version")
	}
	write("image.tar", changed)
	if _, err := skopeo("copy", "--all", source, "dir:"+filepath.Join(dir, "changed")); err == nil {
		t.Error("a changed configuration is taken: the digests were not compared")
	}
}
