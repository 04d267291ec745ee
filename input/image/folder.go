package image

import (
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// class has the images of one class.
type class struct {
	name  string
	dir   string
	label int
	first int      // record of its first image
	files []string // sorted
	bytes int64
	sum   uint32 // CRC-32C of names and sizes
}

// listClasses returns the classes of a folder, sorted by name. With names, the labels
// are the indices in names, and any other class is an error.
func listClasses(ctx context.Context, folder string, names []string) ([]class, error) {
	entries, err := readDir(folder)
	if err != nil {
		return nil, err
	}
	var classes []class
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if isDir, err := isFolder(path, e); err != nil {
			return nil, err
		} else if !isDir {
			if IsImage(e.Name()) {
				return nil, flaw(path, "an image beside the folders of the classes, want it in one of them")
			}
			continue
		}
		c := class{name: e.Name(), dir: path, label: len(classes)}
		if names != nil {
			if c.label = slices.Index(names, c.name); c.label < 0 {
				return nil, flaw(path, "class %q is not among those of the training records: %s", c.name, phrase.Names(names, 10))
			}
		}
		if err := c.list(ctx); err != nil {
			return nil, err
		}
		classes = append(classes, c)
	}
	if len(classes) == 0 {
		return nil, flaw(folder, "no classes, want a folder of images for each class")
	}
	return classes, nil
}

// Classes returns the sorted names of the classes of a folder. It reads no image.
func Classes(folder string) ([]string, error) {
	entries, err := readDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isDir, err := isFolder(filepath.Join(folder, e.Name()), e); err != nil {
			return nil, err
		} else if isDir {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// list lists the images of the class.
func (c *class) list(ctx context.Context) error {
	entries, err := readDir(c.dir)
	if err != nil {
		return err
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(c.dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return exitcode.With(exitcode.IO, fmt.Errorf("image: %w", err))
		case info.IsDir():
			return flaw(path, "a folder in a class, want images alone")
		case !IsImage(e.Name()):
			return flaw(path, "no image, want .png, .jpg or .jpeg; move it elsewhere, or give it a name that begins with a dot")
		}
		c.files = append(c.files, e.Name())
		c.bytes += info.Size()
		c.sum = crc32.Update(c.sum, table, fmt.Appendf(nil, "%s\x00%d\n", e.Name(), info.Size()))
	}
	return nil
}

// readDir returns the entries of a folder, sorted by name, except litter.
func readDir(folder string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("image: %w", err))
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return isLitter(e.Name()) }), nil
}

// isLitter reports whether a name is one of the files that systems leave in folders of images.
func isLitter(name string) bool {
	return strings.HasPrefix(name, ".") || strings.EqualFold(name, "Thumbs.db") || strings.EqualFold(name, "desktop.ini")
}

// isFolder reports whether e is a folder, or a link to one.
func isFolder(path string, e fs.DirEntry) (bool, error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir(), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, exitcode.With(exitcode.IO, fmt.Errorf("image: %w", err))
	}
	return info.IsDir(), nil
}

// IsImage reports whether a file is one of images by its name.
func IsImage(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(name)))
}

// maxLines bounds the lines of a manifest.
const maxLines = 64

// manifest returns one line per class: name, bytes, images and checksum; one line in
// total if there are many classes.
func manifest(classes []class) []string {
	var lines []string
	for _, c := range classes {
		lines = append(lines, fmt.Sprintf("%s %d %d %08x", c.name, c.bytes, len(c.files), c.sum))
	}
	if len(lines) <= maxLines {
		return lines
	}
	images, bytes := 0, int64(0)
	for _, c := range classes {
		images, bytes = images+len(c.files), bytes+c.bytes
	}
	sum := crc32.Checksum([]byte(strings.Join(lines, "\n")), crc32.MakeTable(crc32.Castagnoli))
	return []string{fmt.Sprintf("%d classes %d %d %08x", len(classes), bytes, images, sum)}
}

// flaw returns an error about a file or folder.
func flaw(path, format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("image: %s: "+format, append([]any{path}, args...)...))
}
