package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
	"time"
)

// debian returns a package of Debian for arch: an ar archive of the three members that
// deb(5) describes.
func debian(version, arch string, binary []byte, shared []file, at time.Time) ([]byte, error) {
	files := []file{{"usr/bin/ringtrain", 0o755, binary}}
	for _, f := range shared {
		data, err := f.data, error(nil)
		name := ""
		switch f.path {
		case "doc/LICENSE":
			name = "usr/share/doc/ringtrain/copyright"
		case "doc/CHANGELOG.md":
			name = "usr/share/doc/ringtrain/changelog.gz"
			data, err = squeezed(f.data)
		case "doc/README.md":
			name = "usr/share/doc/ringtrain/README.md"
		case "man/man1/ringtrain.1":
			name = "usr/share/man/man1/ringtrain.1.gz"
			data, err = squeezed(f.data)
		case "completions/bash/ringtrain":
			name = "usr/share/bash-completion/completions/ringtrain"
		case "completions/zsh/_ringtrain":
			name = "usr/share/zsh/vendor-completions/_ringtrain"
		case "completions/fish/ringtrain.fish":
			name = "usr/share/fish/vendor_completions.d/ringtrain.fish"
		default:
			err = fmt.Errorf("%s has no place in the package", f.path)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, f.mode, data})
	}
	var checksums strings.Builder
	size := 0
	for _, f := range files {
		fmt.Fprintf(&checksums, "%x  %s\n", md5.Sum(f.data), f.path)
		size += len(f.data)
	}
	about := fmt.Sprintf(`Package: ringtrain
Version: %s
Architecture: %s
Maintainer: the developers of ringtrain <ringtrain@localhost>
Installed-Size: %d
Section: science
Priority: optional
Description: distributed training on CPUs without a parameter server
 Trains models on many CPU workers at once. The workers sum their gradients
 with a compressed ring all-reduce. Rank 0 writes checkpoints and an export
 that TensorFlow Serving loads.
`, debianVersion(version), arch, (size+1023)/1024)
	control, err := compressed([]file{{"control", 0o644, []byte(about)}, {"md5sums", 0o644, []byte(checksums.String())}}, "./", at)
	if err != nil {
		return nil, err
	}
	data, err := compressed(files, "./", at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range []file{{"debian-binary", 0, []byte("2.0\n")}, {"control.tar.gz", 0, control}, {"data.tar.gz", 0, data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.path, at.Unix(), 0, 0, "100644", len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// debianVersion returns version as Debian wants it: it begins with a digit.
func debianVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	if version[0] < '0' || version[0] > '9' {
		return "0~" + version // a build without a tag comes before each release
	}
	return version
}
