package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

// A file is an entry of an archive. A path that ends with a slash is a folder.
type file struct {
	path string
	mode int64
	data []byte
}

// documents returns the files that lie beside the binary: licence, manual, man pages and
// completions. It asks the program at path for the last two.
func documents(program string) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"doc/" + name, 0o644, data})
	}
	for _, made := range []struct {
		path string
		args []string
	}{
		{"completions/bash/ringtrain", []string{"completion", "bash"}},
		{"completions/fish/ringtrain.fish", []string{"completion", "fish"}},
		{"completions/zsh/_ringtrain", []string{"completion", "zsh"}},
		{"man/man1/ringtrain.1", []string{"man"}},
	} {
		data, err := exec.Command(program, made.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("ringtrain %s: %w", strings.Join(made.args, " "), err)
		}
		files = append(files, file{made.path, 0o644, data})
	}
	return files, nil
}

// tarball returns an archive whose only folder is name.
func tarball(name string, binary []byte, shared []file, at time.Time) ([]byte, error) {
	files := []file{{name + "/ringtrain", 0o755, binary}}
	for _, f := range shared {
		files = append(files, file{name + "/" + strings.TrimPrefix(f.path, "doc/"), f.mode, f.data})
	}
	return compressed(files, "", at)
}

// compressed returns files as a .tar.gz: sorted, owned by root, all of the time at. It adds
// the folders above them, and puts prefix before each path.
func compressed(files []file, prefix string, at time.Time) ([]byte, error) {
	plain, err := archive(files, prefix, at)
	if err != nil {
		return nil, err
	}
	return squeezed(plain)
}

// squeezed returns data as gzip, without a name and a time.
func squeezed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// archive is compressed without the compression.
func archive(files []file, prefix string, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range withFolders(files) {
		h := &tar.Header{Name: prefix + f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// withFolders returns files and the folders above them, sorted by path.
func withFolders(files []file) []file {
	all := slices.Clone(files)
	seen := map[string]bool{".": true}
	for _, f := range files {
		if strings.HasSuffix(f.path, "/") {
			seen[strings.TrimSuffix(f.path, "/")] = true
		}
	}
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.path, "/")); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			all = append(all, file{dir + "/", 0o755, nil})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return all
}
