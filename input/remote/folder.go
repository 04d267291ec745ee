package remote

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"ringtrain/input"
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
	if !strings.HasPrefix(name, "s3://") {
		return files[0], nil
	}
	bucket, key, err := bucketKey(name)
	if err != nil || len(all) == 1 && all[0].key == key {
		return files[0], err
	}
	view := &object{id: name, etag: setOf(all)} // an entry without bytes of its own
	inside := filepath.Join(s.path(view.entry()), safePath("s3/"+bucket+"/"+strings.TrimSuffix(key, "/")))
	if err := s.keep(ctx, []*object{view}); err != nil || s.has(view) {
		return inside, err
	}
	draft := s.draft(view)
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

// Here returns where names are on this host that are elsewhere, or below a root that is: of one name without wildcards the
// object, or the folder that Folder returns.
func (s *Store) Here(ctx context.Context, root string, names ...string) ([]string, error) {
	far := make([]string, len(names))
	for i, name := range names {
		far[i] = Below(root, name)
	}
	if len(far) != 1 || !Is(far[0]) || hasWildcard(far[0]) {
		return s.Files(ctx, far...)
	}
	folder, err := s.Folder(ctx, far[0])
	return []string{folder}, err
}

// IsFolder reports whether a name elsewhere is more likely of a folder than of a file: it has neither wildcards nor an ending.
func IsFolder(name string) bool {
	return strings.HasPrefix(name, "s3://") && !hasWildcard(name) && path.Ext(name) == ""
}

func hasWildcard(name string) bool {
	_, rest := input.SplitPattern(name)
	return rest != ""
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
