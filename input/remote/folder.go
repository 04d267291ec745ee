package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/ring/exitcode"
)

// Folder returns a folder of this host for the objects below a name, of links to their copies. A name that is not elsewhere
// stays as it is.
func (s *Store) Folder(ctx context.Context, name string) (string, error) {
	if !Is(name) {
		return name, nil
	}
	files, err := s.Files(ctx, name)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.known[name]
	bucket, key, err := bucketKey(name)
	if err != nil || len(all) == 1 && all[0].key == key {
		return files[0], err
	}
	view := &object{id: name, etag: setOf(all)} // an entry without bytes of its own
	inside := filepath.Join(s.path(view.entry()), safePath("s3/"+bucket+"/"+strings.TrimSuffix(key, "/")))
	if err := s.keep([]*object{view}); err != nil || s.has(view) {
		return inside, err
	}
	draft := s.path(fmt.Sprintf("%s%s%016x", view.entry(), draftMark, rand.Uint64()))
	for i, o := range all {
		if err = link(files[i], filepath.Join(draft, o.path)); err != nil {
			break
		}
	}
	if err == nil {
		err = os.Rename(draft, s.path(view.entry()))
	}
	if err != nil {
		os.RemoveAll(draft)
	}
	if err != nil && !s.has(view) { // another process may have made it
		return "", exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	return inside, nil
}

func link(file, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	return os.Symlink(file, name)
}
