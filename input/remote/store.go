package remote

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
	"ringtrain/ring/phrase"
)

// S3 are the keys input.s3.
type S3 struct {
	Region    string `yaml:"region" doc:"The region of the buckets of ‘s3://’. Default: AWS_REGION, AWS_DEFAULT_REGION, that of the profile, or the one that the server tells."`
	PathStyle bool   `yaml:"path_style" doc:"Requests name the bucket in the path, not in the name of the host. An endpoint that is not Amazon's has it so without the key."`
	Anonymous bool   `yaml:"anonymous" doc:"Requests are not signed, for buckets that all may read."`
}

// Config says where copies lie, and how places are asked.
type Config struct {
	Dir    string       // the folder of copies
	Bytes  int64        // most bytes of copies; 0: half of the disk that is free, or has copies
	S3     S3           // of s3://
	Notice func(string) // receives messages about long copies; may be nil

	Pause time.Duration // before the second try; twice as long before each further one. 0: half a second
}

// Dir returns the folder of copies in a cache folder, "" for "".
func Dir(cache string) string {
	if cache == "" {
		return ""
	}
	return filepath.Join(cache, "objects")
}

// A Store copies objects, once a host, and keeps them from being dropped while its process lives. Several goroutines may
// call its methods.
type Store struct {
	Config
	part   int64         // bytes that one request asks for
	boot   string        // of this machine
	slots  chan struct{} // one for each request under way
	copied atomic.Int64  // bytes

	mu    sync.Mutex
	s3    *s3Source
	web   *webSource
	known map[string][]*object // what names mean, for the life of the process
	used  *useFile
}

// New returns a Store. It asks nobody before a name is of another place.
func New(c Config) *Store {
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	c.Pause = cmp.Or(c.Pause, firstPause)
	return &Store{Config: c, part: partBytes, boot: bootID(), slots: make(chan struct{}, atOnce), known: map[string][]*object{}}
}

func (s *Store) path(entry string) string { return filepath.Join(s.Dir, entry) }

// Files returns names with the paths of copies in the place of those that are elsewhere, in their order. The copies are
// complete.
func (s *Store) Files(ctx context.Context, names ...string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*object
	for _, name := range names {
		if Is(name) && s.Dir == "" {
			return nil, usage("input.cache is off, or there is no cache folder of the user, want a folder: %s is copied there", Public(name))
		}
		if Is(name) {
			found, err := s.find(ctx, name)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return names, nil
	}
	if err := s.take(ctx, all); err != nil {
		return nil, err
	}
	s.settle(all)
	var paths []string
	for _, name := range names {
		if !Is(name) {
			paths = append(paths, name)
			continue
		}
		for _, o := range s.known[name] {
			paths = append(paths, filepath.Join(s.path(o.entry()), o.path))
		}
	}
	return paths, nil
}

// find returns the objects that a name means, the same ones each time.
func (s *Store) find(ctx context.Context, name string) ([]*object, error) {
	if found := s.known[name]; found != nil {
		return found, nil
	}
	found, err := s.list(ctx, name)
	if err == nil {
		s.known[name] = found
	}
	return found, err
}

// list asks the place.
func (s *Store) list(ctx context.Context, name string) ([]*object, error) {
	switch scheme, _, _ := strings.Cut(name, "://"); scheme {
	case "s3":
		if s.s3 == nil {
			source, err := newS3(s.Config.S3)
			if err != nil {
				return nil, err
			}
			s.s3 = source
		}
		return s.s3.list(ctx, s, name)
	case "https":
		if s.web == nil {
			s.web = newWeb()
		}
		return s.web.list(ctx, s, name)
	case "http":
		return nil, usage("%s is not encrypted, want https://", Public(name))
	default:
		return nil, usage("%s:// is no place of records, want s3:// or https://", phrase.Quote(scheme))
	}
}

// take makes the copies of objects that are not there. One process of the host does so at a time for the same objects.
func (s *Store) take(ctx context.Context, all []*object) error {
	if err := folder.Make(s.Dir); err != nil {
		return fmt.Errorf("input.cache: %w", err)
	}
	if err := s.keep(ctx, all); err != nil || len(s.missing(all)) == 0 {
		return err
	}
	l, err := s.lock(ctx, "copy-"+setOf(all))
	if err != nil {
		return err
	}
	defer l.Remove()
	if err := s.keep(ctx, all); err != nil { // another process may have copied them
		return err
	}
	missing := s.missing(all)
	defer s.progress(missing)()
	err = input.SideBySide(ctx, len(missing), atOnce, func(_, i int) error { return s.write(ctx, missing[i]) })
	if err != nil {
		return err
	}
	return s.keep(ctx, all) // by their sizes, if the server did not tell them
}

// setOf names a set of objects.
func setOf(all []*object) string {
	var b strings.Builder
	for _, o := range all {
		b.WriteString(o.prefix() + "\n")
	}
	return sum(b.String())
}

// has reports whether the copy of o is there and has its size: after a power failure a copy may have lost its end. See
// [Store.isSound] of bytes before it.
func (s *Store) has(o *object) bool {
	info, err := os.Stat(filepath.Join(s.path(o.entry()), o.path))
	return err == nil && (info.IsDir() || info.Size() == o.size)
}

func (s *Store) missing(all []*object) []*object { return slices.DeleteFunc(slices.Clone(all), s.has) }

// sayEvery is the interval of messages about a copy.
const sayEvery = 10 * time.Second

// progress says from time to time how far the copies are.
func (s *Store) progress(missing []*object) (stop func()) {
	total, of := int64(0), ""
	for _, o := range missing {
		total += max(o.size, 0)
	}
	if total > 0 {
		of = " of " + bytesOf(total)
	}
	before, quit := s.copied.Load(), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(sayEvery):
				s.Notice(fmt.Sprintf("copying %s to %s: %s%s", about(missing), s.Dir, bytesOf(s.copied.Load()-before), of))
			}
		}
	})
	return func() {
		close(quit)
		wait.Wait()
	}
}

// about names objects.
func about(all []*object) string {
	if len(all) == 1 {
		return all[0].url
	}
	return all[0].url + " and " + phrase.Count(len(all)-1, "other")
}

// bytesOf returns a number of bytes for people.
func bytesOf(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1000, 0
	for ; value >= 1000 && unit < 3; unit++ {
		value /= 1000
	}
	return fmt.Sprintf("%.3g %s", value, []string{"kB", "MB", "GB", "TB"}[unit])
}

// draft returns a new name for the folder of a copy that is being made.
func (s *Store) draft(o *object) string {
	return s.path(fmt.Sprintf("%s%s%016x", o.entry(), draftMark, rand.Uint64()))
}

// Manifest has a line for each object that names mean, "URL bytes ETag", which must be equal on all hosts. It tells only of
// names that Files was given.
func (s *Store) Manifest(names ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, name := range names {
		for _, o := range s.known[name] {
			lines = append(lines, o.line())
		}
	}
	return lines
}

// errFull is the error of copies that do not fit.
func errFull(format string, args ...any) error {
	return exitcode.With(exitcode.IO, fmt.Errorf("input.cache_size: "+format, args...))
}
