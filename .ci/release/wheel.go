package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// machines has Python's name of each architecture.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// wheelHere builds the wheel of this machine into the folder out, in the place of older ones.
func wheelHere(tell io.Writer, version string, at time.Time, out string) error {
	work, err := prepare(version, at, out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary, err := compile(work, runtime.GOARCH, version)
	if err != nil {
		return err
	}
	name, data, err := wheel(version, runtime.GOARCH, binary, at)
	if err != nil {
		return err
	}
	if err := removeWheels(out, runtime.GOARCH); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
		return err
	}
	return list(tell, out, []string{name})
}

// removeWheels removes the wheels of arch from the folder out: pip refuses dist/ringtrain-*.whl if it means two of them.
func removeWheels(out, arch string) error {
	old, err := filepath.Glob(filepath.Join(out, "ringtrain-*_"+machines[arch]+".whl"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// wheel returns the name and the bytes of a wheel: the module, and the binary as its script. A static binary runs
// with each C library, so the wheel has the tags of glibc and of musl.
func wheel(version, arch string, binary []byte, at time.Time) (name string, data []byte, err error) {
	version = pythonVersion(version)
	files, err := module()
	if err != nil {
		return "", nil, err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return "", nil, err
	}
	platforms := []string{"manylinux2014_" + machines[arch], "musllinux_1_1_" + machines[arch]}
	about := "ringtrain-" + version + ".dist-info/"
	files = append(files,
		file{"ringtrain-" + version + ".data/scripts/ringtrain", 0o755, binary},
		file{about + "LICENSE", 0o644, licence},
		file{about + "METADATA", 0o644, fmt.Appendf(nil, metadata, version)},
		file{about + "WHEEL", 0o644, fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: ringtrain\nRoot-Is-Purelib: false\nTag: py3-none-%s\nTag: py3-none-%s\n", platforms[0], platforms[1])},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	record.WriteString(about + "RECORD,,\n")
	data, err = zipped(append(files, file{about + "RECORD", 0o644, []byte(record.String())}), at)
	return "ringtrain-" + version + "-py3-none-" + strings.Join(platforms, ".") + ".whl", data, err
}

// metadata describes the package of a version to Python's tools.
const metadata = `Metadata-Version: 2.1
Name: ringtrain
Version: %s
Summary: distributed training on CPUs without a parameter server
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

ringtrain trains models on many CPU workers at once: from a data frame, from files, or from a job file. The wheel has
the static program ` + "`ringtrain`" + ` and a module that starts it. pandas and pyarrow are used if they are there.

    import ringtrain
    run = ringtrain.train(data=df, label="churn", np=2)
    scores = ringtrain.predict(run, new_df)

` + "`ringtrain help docs/python`" + ` prints the manual of the module.
`

// module returns the files of the module, sorted by path.
func module() ([]file, error) {
	const folder = "deploy/python"
	names, err := filepath.Glob(folder + "/ringtrain/*.py")
	if err != nil {
		return nil, err
	}
	var files []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{strings.TrimPrefix(name, folder+"/"), 0o644, data})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no module: want the module's own folder as the working directory", folder)
	}
	return files, nil
}

// zipped returns files as a .zip, in their order, all of the time at.
func zipped(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// described matches what `git describe` says of a commit: a tag such as v0.2.0 or 0.3.0-rc1, the number of commits
// since, the commit, and whether the tree has changes.
var described = regexp.MustCompile(`^v?(\d+(?:\.\d+)+)(?:-?(a|b|rc)\.?(\d+))?(?:-(\d+)-(g[0-9a-f]+))?(-dirty)?$`)

// pythonVersion returns version as PEP 440 wants it. Without a tag, it comes before each release.
func pythonVersion(version string) string {
	m := described.FindStringSubmatch(version)
	if m == nil {
		return "0+" + strings.Trim(regexp.MustCompile(`[^0-9a-z]+`).ReplaceAllString(strings.ToLower("g"+version), "."), ".")
	}
	release, local := m[1]+m[2]+m[3], m[5]
	if m[4] != "" {
		release += ".post" + m[4]
	}
	if m[6] != "" {
		local = strings.TrimPrefix(local+".dirty", ".")
	}
	if local != "" {
		release += "+" + local
	}
	return release
}
