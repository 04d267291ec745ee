package remote

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ringtrain/ring/exitcode"
)

// Is reports whether a name is of a place elsewhere: it begins as a URL does.
func Is(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, "/\\*?[ ")
}

// Below returns a name below a root that is elsewhere. Names that are absolute or elsewhere themselves, and those below a
// folder of this host, stay as they are.
func Below(root, name string) string {
	if !Is(root) || name == "" || Is(name) || filepath.IsAbs(name) {
		return name
	}
	return strings.TrimSuffix(root, "/") + "/" + filepath.ToSlash(name)
}

// object is what a place has under one name.
type object struct {
	url   string // for people, without a query
	id    string // that tells it from others: the endpoint, and the whole URL
	key   string // of a bucket
	path  string // below the folder of its copy
	etag  string // or the date of its last change; "": the server tells none
	tag   string // the ETag, if the server compares by it; else ""
	size  int64  // -1: the server does not tell
	time  time.Time
	from  source
	whole bool // the server sends no ranges

	settles bool // its copy is or becomes durable
}

// entry returns the name of the folder of the copy.
func (o *object) entry() string { return fmt.Sprintf("%s-%d", o.prefix(), o.size) }

// prefix is entry without the size.
func (o *object) prefix() string { return sum(o.id) + "-" + sum(o.etag) }

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", h[:8])
}

// line describes the object to other hosts.
func (o *object) line() string { return fmt.Sprintf("%s %d %s", o.url, o.size, o.etag) }

// maxName is the most bytes of a name in a file system.
const maxName = 255

// safePath returns a key as a path below a folder, in which each part is a name. Parts that are none are escaped, those
// that are too long lose their middle.
func safePath(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		switch {
		case p == "" || p == "." || p == "..":
			p = strings.ReplaceAll(p, ".", "%2E") + "%2F"
		case strings.ContainsAny(p, "\x00"):
			p = strings.ReplaceAll(p, "\x00", "%00")
		}
		if len(p) > maxName {
			p = p[:maxName-100] + "~" + sum(p) + "~" + p[len(p)-80:]
		}
		parts[i] = p
	}
	return filepath.Join(parts...)
}

// bucketKey splits s3://bucket/key.
func bucketKey(name string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(name, "s3://"), "/")
	if bucket == "" || strings.ContainsAny(bucket, "*?[{@:") {
		return "", "", usage("%s names no bucket, want s3://bucket/prefix", Public(name))
	}
	return bucket, key, nil
}

// webURL checks an https:// name.
func webURL(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	switch {
	case err != nil:
		return nil, usage("a name that begins with https:// is no URL")
	case u.User != nil:
		return nil, usage("https://%s%s has a password or a user in front of the host, want none: a job file is kept and shown", u.Host, u.Path)
	case u.Host == "" || path.Base(u.Path) == "/" || path.Base(u.Path) == ".":
		return nil, usage("%s names no file, want https://host/file", shown(u))
	}
	return u, nil
}

// shown returns a URL for people. A query may have a signature, and is left out.
func shown(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// user matches a user in front of the host of a URL, query a query up to the marks behind the URL.
var (
	user  = regexp.MustCompile(`(://)[^\s/?]*@`)
	query = regexp.MustCompile(`(https?://[^\s?]*)\?\S*?([:,;.)\]]*(?:\s|$))`)
)

// Public returns a text for people: its URLs have neither users and passwords, nor queries, which may have signatures.
func Public(text string) string {
	return query.ReplaceAllString(user.ReplaceAllString(text, "$1"), "$1$2")
}

func usage(format string, args ...any) error {
	return exitcode.With(exitcode.Usage, fmt.Errorf("input: "+format, args...))
}

// copied matches the path of a copy up to its bucket or host.
var copied = regexp.MustCompile(`[^\s"',:]*/objects/[0-9a-f]{16}-[0-9a-f]{16}-\d+/(s3|https)/`)

// Named returns a text with the URLs of objects in the place of the paths of their copies.
func Named(text string) string {
	if !strings.Contains(text, "/objects/") {
		return text
	}
	return copied.ReplaceAllString(text, "$1://")
}
