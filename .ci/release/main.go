// Release builds what a version of ringtrain is delivered as, into the folder dist:
//
//	ringtrain-VERSION-linux-ARCH.tar.gz   the static binary, licence and manual
//	ringtrain_VERSION_ARCH.deb            the same as a package of Debian
//	ringtrain-VERSION-image.tar           a container image of both architectures, as an OCI layout
//	ringtrain-VERSION-….whl               a wheel for Python: the binary and the module that starts it
//	SHA256SUMS                            a checksum of each of these files
//
// ARCH is amd64 or arm64. No daemon and no root are needed. Two runs over one commit give
// equal bytes: each file carries the time of the commit, and archives are sorted. Release prints
// each step before it begins, and at the end the files.
//
// With -wheel it builds only the wheel of this machine, and no checksums.
//
//	go run ./.ci/release -version VERSION -time SECONDS [-out DIR] [-wheel]
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// architectures lists the values of GOARCH that a release has.
var architectures = []string{"amd64", "arm64"}

func main() {
	version := flag.String("version", "", "version of the release, such as 0.2.0")
	seconds := flag.Int64("time", 0, "time of the commit, in seconds since 1970")
	out := flag.String("out", "dist", "folder of the files")
	alone := flag.Bool("wheel", false, "build only the wheel of this machine")
	flag.Parse()
	build := release
	if *alone {
		build = wheelHere
	}
	if err := build(os.Stdout, *version, time.Unix(*seconds, 0).UTC(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release builds all files of version into the folder out, and tells what it does.
func release(tell io.Writer, version string, at time.Time, out string) error {
	work, err := prepare(version, at, out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binaries := map[string][]byte{}
	for _, arch := range architectures {
		fmt.Fprintf(tell, "building for linux/%s\n", arch)
		if binaries[arch], err = compile(work, arch, version); err != nil {
			return err
		}
	}
	shared, err := documents(filepath.Join(work, runtime.GOARCH))
	if err != nil {
		return err
	}
	var names []string
	write := func(name string, data []byte, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		names = append(names, name)
		return os.WriteFile(filepath.Join(out, name), data, 0o644)
	}
	for _, arch := range architectures {
		fmt.Fprintf(tell, "packing for linux/%s\n", arch)
		name := fmt.Sprintf("ringtrain-%s-linux-%s", version, arch)
		data, err := tarball(name, binaries[arch], shared, at)
		if err := write(name+".tar.gz", data, err); err != nil {
			return err
		}
		data, err = debian(version, arch, binaries[arch], shared, at)
		if err := write(fmt.Sprintf("ringtrain_%s_%s.deb", debianVersion(version), arch), data, err); err != nil {
			return err
		}
		name, data, err = wheel(version, arch, binaries[arch], at)
		if err := write(name, data, err); err != nil {
			return err
		}
	}
	fmt.Fprintln(tell, "packing the container image")
	data, err := image(version, binaries, at)
	if err := write("ringtrain-"+version+"-image.tar", data, err); err != nil {
		return err
	}
	if err := sums(out, names); err != nil {
		return err
	}
	return list(tell, out, append(names, checksumFile))
}

// prepare makes the folder out, and a temporary one for the binaries.
func prepare(version string, at time.Time, out string) (work string, err error) {
	if !versions.MatchString(version) {
		return "", fmt.Errorf("-version is %q, want digits, letters, dots, pluses and dashes, such as 0.2.0", version)
	}
	if at.Unix() <= 0 {
		return "", fmt.Errorf("-time is %d, want the commit's seconds since 1970", at.Unix())
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp("", "release")
}

// list prints the size and the path of each file.
func list(w io.Writer, out string, names []string) error {
	for _, name := range names {
		path := filepath.Join(out, name)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%9.1f KiB  %s\n", float64(info.Size())/1024, path)
	}
	return nil
}

// versions matches what may be a part of the names of files.
var versions = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)

// compile builds the static binary for arch and returns its bytes. It leaves the binary in
// the folder work, under the name of arch.
func compile(work, arch, version string) ([]byte, error) {
	path := filepath.Join(work, arch)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", path, "./cmd/ringtrain")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w: %s", arch, err, said)
	}
	return os.ReadFile(path)
}

// checksumFile is the name of the file of checksums.
const checksumFile = "SHA256SUMS"

// sums writes the file of checksums, in the form that sha256sum -c reads.
func sums(out string, names []string) error {
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(filepath.Join(out, checksumFile), []byte(b.String()), 0o644)
}
