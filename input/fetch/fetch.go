// Package fetch copies named data sets to this machine: over HTTP from the publisher or
// a mirror, or from a folder. The program contains sizes and SHA-256 sums of all files,
// so the source need not be trusted.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"ringtrain/input"
	"ringtrain/input/remote"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Progress receives the number of bytes of a file so far. It may be nil.
type Progress func(file string, done, total int64)

// Names returns the data sets of Fetch.
func Names() []string {
	var names []string
	for _, s := range catalog() {
		names = append(names, s.name)
	}
	return names
}

// Fetch copies the data set name into the folder to/name. It keeps an existing file with
// the right sum. It writes another file under a temporary name, verifies the sum and
// renames the file, so a file with the right name has the right bytes.
//
// from is "" for the published locations in order. Otherwise it is a base URL (http://
// or https://) or a folder that has the files as published, as ringtrain stores them, or
// in a folder of the set's name.
//
// Codes: exitcode.Usage for an unknown name, exitcode.NoInput for a file in no location,
// exitcode.BadData for a wrong sum, exitcode.IO for a network failure,
// exitcode.CannotCreate for a folder that cannot be written.
func Fetch(ctx context.Context, name, from, to string, progress Progress) error {
	for _, s := range catalog() {
		if s.name == name {
			return s.fetch(ctx, from, to, progress)
		}
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("fetch: no data set %q, want one of %s", name, strings.Join(Names(), ", ")))
}

func (s set) fetch(ctx context.Context, from, to string, progress Progress) error {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	for _, f := range s.files {
		target := filepath.Join(to, s.name, filepath.FromSlash(f.path))
		switch there, err := f.isAt(target); {
		case err != nil:
			return err
		case there:
			progress(f.path, f.bytes, f.bytes)
			continue
		}
		if err := folder.Make(filepath.Dir(target)); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		if err := f.fetch(ctx, s.places(f, from), target, s.pause, progress); err != nil {
			return fmt.Errorf("fetch: %s: %w", s.name, err)
		}
	}
	return nil
}

// places returns the locations of f in order.
func (s set) places(f file, from string) []string {
	if from == "" {
		var all []string
		for _, base := range s.bases {
			all = append(all, base+f.remote)
		}
		return all
	}
	from = strings.TrimSuffix(from, "/") + "/"
	all := []string{from + s.name + "/" + f.path, from + f.path}
	if f.remote != f.path {
		all = append(all, from+f.remote)
	}
	return all
}

// isAt reports whether target is the right file. It returns false for a missing or wrong
// file and an error for an unreadable one.
func (f file) isAt(target string) (bool, error) {
	r, size, err := input.OpenRaw(target)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	defer r.Close()
	if size != f.bytes {
		return false, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return false, input.ReadError(target, err)
	}
	return hex.EncodeToString(hash.Sum(nil)) == f.sha256, nil
}

// fetch copies f from the first location that has the right file. If none has, it
// returns the errors of all locations, without those of missing files if there are
// others.
func (f file) fetch(ctx context.Context, places []string, target string, pause time.Duration, progress Progress) error {
	var faults, missing []error
	for _, place := range places {
		err := f.take(ctx, place, target, pause, progress)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case exitcode.Of(err) == exitcode.NoInput:
			missing = append(missing, err)
		default:
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 {
		faults = missing
	}
	return errors.Join(faults...)
}

// take copies f from one location.
func (f file) take(ctx context.Context, place, target string, pause time.Duration, progress Progress) error {
	out, err := input.CreateRaw(target, true)
	if err != nil {
		return err
	}
	defer out.Close()
	sum := sha256.New()
	w := &counted{Writer: io.MultiWriter(out, sum), file: f, progress: progress}
	if strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://") {
		err = remote.New(remote.Config{Pause: pause}).Download(ctx, place, w)
	} else {
		err = copyFile(ctx, place, w)
	}
	if err == nil && w.done != f.bytes {
		err = exitcode.With(exitcode.BadData, fmt.Errorf("%s: %d bytes, want %d", place, w.done, f.bytes))
	}
	if err != nil {
		return err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); have != f.sha256 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: sha256 is %s, want %s", place, have, f.sha256))
	}
	return out.Commit()
}

// copyFile copies the content of a file of this host.
func copyFile(ctx context.Context, name string, w io.Writer) error {
	r, _, err := input.OpenRaw(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(w, input.WithContext(ctx, r)); err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("%s: %w", name, err))
	}
	return nil
}

// counted reports the progress of a file, and takes no byte beyond its size.
type counted struct {
	io.Writer
	file     file
	progress Progress
	done     int64
}

func (c *counted) Write(p []byte) (int, error) {
	if c.done+int64(len(p)) > c.file.bytes {
		return 0, exitcode.With(exitcode.BadData, fmt.Errorf("more than %d bytes, want %d", c.file.bytes, c.file.bytes))
	}
	n, err := c.Writer.Write(p)
	c.done += int64(n)
	c.progress(c.file.path, c.done, c.file.bytes)
	return n, err
}
