package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"ringtrain/input"
	"ringtrain/input/cache"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Values of Spec.Cache other than a folder.
const (
	CacheAuto = "auto"
	CacheOff  = "off"
)

// openBlocks opens files whose records are read in blocks. paths may have the decompressed text of compressed
// files (see text.Config).
func (s Spec) openBlocks(ctx context.Context, paths []string) (cache.Text, error) {
	f, _ := FormatOf(s.Format)
	return f.blocks(ctx, s, paths)
}

// cacheFolder returns the folder of the cache, and sets Notice to receive messages about it.
func (s *Spec) cacheFolder() string {
	if s.Notice == nil {
		s.Notice = func(string) {}
	}
	if s.Cache == "" || s.Cache == CacheAuto {
		return s.CacheDir
	}
	return s.Cache
}

// openCached opens text, or the cache of its records.
//
// If the text of a compressed file does not fit into memory, cached first makes a cache.
// Otherwise it makes a cache in the background if Spec.Cache is a folder, or if the
// records of more than one window of text are read several times.
func (s Spec) openCached(ctx context.Context) (input.Dataset, error) {
	dir := s.cacheFolder()
	if s.Cache == CacheOff || dir == "" {
		return s.plain(ctx)
	}
	if s.FindCache {
		made := s
		made.LabelRule.Absent = false // as a job makes it
		found, _, err := cache.Find(made.cacheConfig(dir))
		if err != nil || found == nil { // the text's reader names a file that is missing
			return s.plain(ctx)
		}
		return s.adopted(found)
	}
	if dir == s.Cache {
		if _, err := folder.Nearest(dir); err != nil {
			return nil, fmt.Errorf("input.cache: %w", err)
		}
	}
	large, size, err := s.survey(ctx)
	if err != nil {
		return nil, err
	}
	if named := dir == s.Cache; !named && !large && !(s.Again && size > text.HoldBytes) {
		return s.plain(ctx)
	}
	c := s.cacheConfig(dir)
	if large {
		made, err := cache.Once(ctx, c, s.Notice, func() error { return s.makeCache(ctx, c) })
		if err != nil {
			return nil, err
		}
		return s.adopted(made)
	}
	found, _, err := cache.Find(c)
	if err != nil {
		return nil, exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	if found != nil {
		return s.adopted(found)
	}
	set, err := s.openBlocks(ctx, nil)
	if err != nil {
		return nil, err
	}
	c.Learnt = s.learnt()
	return cache.Behind(c, set, s.Notice), nil
}

// adopted passes the statistics of a cache's records to the plan of columns.
func (s Spec) adopted(made *cache.Set) (input.Dataset, error) {
	if s.Split.By != "" && made.Facts().Parts == nil {
		err := exitcode.With(exitcode.BadData, fmt.Errorf("input.cache: %s does not say which records are held out; remove the file, and it is made anew", made.Name()))
		return nil, errors.Join(err, made.Close())
	}
	if s.Columns == nil {
		return made, nil
	}
	if err := s.Columns.AdoptJSON(made.Learnt()); err != nil {
		return nil, errors.Join(fmt.Errorf("input.cache: %w", err), made.Close())
	}
	columns := s.Columns.Columns()
	if want := int(columns.Size()); made.Facts().Features != want {
		err := exitcode.With(exitcode.BadData, fmt.Errorf("input.cache: %s has %d features, want %d; remove the file, and it is made anew", made.Name(), made.Facts().Features, want))
		return nil, errors.Join(err, made.Close())
	}
	return made, nil
}

// learnt returns what was learnt of the columns, for a cache.
func (s Spec) learnt() []byte {
	if s.Columns == nil {
		return nil
	}
	return s.Columns.JSON()
}

// plain opens text without a cache.
func (s Spec) plain(ctx context.Context) (input.Dataset, error) {
	set, err := s.openBlocks(ctx, nil)
	if err != nil {
		return nil, err
	}
	if set.Facts().Sequential {
		what := "compressed text is"
		if f, _ := FormatOf(s.Format); !f.IsText() {
			what = "records of format " + f.Name + " are"
		}
		s.Notice(what + " read in the order of the files, since input.cache is off")
	}
	return set, nil
}

// MakeCache makes the cache of the records of s, unless a valid one exists, and returns
// its name. For formats other than text, and for Cache off, the error is exitcode.Usage.
func MakeCache(ctx context.Context, s Spec) (name string, records int, err error) {
	dir := s.cacheFolder()
	f, err := s.check()
	switch {
	case err != nil:
		return "", 0, err
	case !f.IsCached():
		return "", 0, usage("format %s has no cache, want one of %s", s.Format, strings.Join(Names(Format.IsCached), ", "))
	case dir == CacheOff || dir == "":
		return "", 0, usage("input.cache is %q, want auto or a folder", s.Cache)
	}
	c := s.cacheConfig(dir)
	made, err := cache.Once(ctx, c, s.Notice, func() error { return s.makeCache(ctx, c) })
	if err != nil {
		return "", 0, err
	}
	if _, err := s.adopted(made); err != nil {
		return "", 0, err
	}
	return c.Name(), made.Facts().Records, made.Close()
}

// survey reports whether the text of a compressed file is too large for memory, and the
// total size of the files.
func (s Spec) survey(ctx context.Context) (large bool, size int64, err error) {
	f, _ := FormatOf(s.Format)
	if f.large != nil {
		if large, err = f.large(ctx, s); err != nil {
			return false, 0, err
		}
	}
	for _, name := range s.Files {
		l := false
		if f.large == nil {
			if _, l, err = text.Packed(ctx, name, s.Limits); err != nil {
				return false, 0, err
			}
		}
		info, err := os.Stat(name)
		if err != nil {
			return false, 0, exitcode.With(exitcode.NoInput, fmt.Errorf("input: %w", err))
		}
		large, size = large || l, size+info.Size()
	}
	return large, size, nil
}

// makeCache makes a cache of files of which some are compressed. It decompresses their
// text into the cache's folder and removes the text afterwards.
func (s Spec) makeCache(ctx context.Context, c cache.Config) error {
	dir, err := cache.TextDir(c)
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("input.cache: %w", err))
	}
	defer cache.Discard(dir, s.Notice)
	paths := make([]string, len(s.Files))
	for i, name := range s.Files {
		paths[i] = name
		if f, _ := FormatOf(s.Format); !f.IsText() || s.isPlain(ctx, name) {
			continue
		}
		paths[i] = filepath.Join(dir, fmt.Sprintf("%d", i))
		if err := s.inflate(ctx, paths[i], name); err != nil {
			return err
		}
	}
	s.Share = false
	set, err := s.openBlocks(ctx, paths)
	if err != nil {
		return err
	}
	defer set.Close()
	c.Learnt = s.learnt()
	return cache.Make(ctx, c, set, runtime.GOMAXPROCS(0))
}

func (s Spec) isPlain(ctx context.Context, name string) bool {
	packed, _, err := text.Packed(ctx, name, s.Limits)
	return err == nil && !packed
}

// inflate writes the decompressed text of a file to the file to.
func (s Spec) inflate(ctx context.Context, to, name string) error {
	out, err := input.CreateRaw(to, false)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := text.Inflate(ctx, out, name, s.Limits); err != nil {
		return err
	}
	return out.Commit()
}

// cacheConfig describes the cache in a folder.
func (s Spec) cacheConfig(dir string) cache.Config {
	c := cache.Config{Dir: dir, Files: s.Files, Key: s.key(), Shape: s.shape(), Labels: s.LabelRule}
	if s.Columns == nil { // else the columns say it, when what was learnt of them is known
		c.Features = s.Features
	}
	return c
}

// shape returns what each record of text becomes.
func (s Spec) shape() input.RecordShape {
	switch {
	case s.Columns != nil:
		c := s.Columns.Columns()
		return input.RecordShape{Cols: len(c.Dense), Fields: len(c.Bags)}
	case s.Dense:
		return input.RecordShape{Cols: -1}
	}
	return input.RecordShape{Fields: max(s.Fields, 1)}
}

// dividedFirst reports whether the records become others with another split: something is learnt from those that
// train. A cache of records that cells divide has their parts, too.
func (s Spec) dividedFirst() bool {
	learns := s.Features == 0
	if s.Columns != nil {
		learns = s.Learn && s.Columns.Learns()
	}
	return s.Split.Holds() && (learns || s.Split.By != "")
}

// key returns all of s on which the records of text depend: the keys of the format among them.
func (s Spec) key() string {
	read := s.How()
	if s.Columns != nil {
		s.Features = 0 // determined by the columns
		read += fmt.Sprintf(" columns=%s learn=%t", s.Columns.Digest(), s.Learn)
	}
	if s.dividedFirst() {
		read += " split=" + s.Split.String()
	}
	switch names := s.LabelRule.Names; {
	case names.Learns():
		read += " names=auto"
	case names != nil:
		read += fmt.Sprintf(" names=%q", names.Names())
	}
	return fmt.Sprintf("%s features=%d max_features=%d fields=%d classes=%d binary=%t absent=%t dense=%t", read,
		s.Features, s.Limits.MaxFeatures, s.Fields, s.LabelRule.Classes, s.LabelRule.Binary, s.LabelRule.Absent, s.Dense)
}
