package remote

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"ringtrain/ring/exitcode"
)

// bucket is a bucket of a server of S3 in this process. Requests go through front, if that is not nil.
type bucket struct {
	*s3mem.Backend
	url   string
	front func(next http.Handler) http.Handler
}

// newBucket starts a server, and has the environment name it.
func newBucket(t testing.TB, objects map[string]string) *bucket {
	t.Helper()
	b := &bucket{Backend: s3mem.New()}
	if err := b.CreateBucket("lake"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(b.Backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.front != nil {
			b.front(fake).ServeHTTP(w, r)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for key, text := range objects {
		b.put(t, key, text)
	}
	b.url = server.URL
	home := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "SECRETTEST", "AWS_REGION": "us-east-1", "HOME": home,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "", "AWS_ENDPOINT_URL_S3": "", "AWS_CA_BUNDLE": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return b
}

func (b *bucket) put(t testing.TB, key, text string) {
	t.Helper()
	if _, err := b.PutObject("lake", key, map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}, strings.NewReader(text), int64(len(text)), nil); err != nil {
		t.Fatal(err)
	}
}

// testPart is what one request of a test asks for.
const testPart = 64 << 10

// newStore returns a Store whose pauses are short.
func newStore(t testing.TB, dir string) *Store {
	t.Helper()
	s := New(Config{Dir: dir, Notice: func(line string) { t.Log(line) }, Pause: time.Millisecond})
	s.part = testPart
	return s
}

// contents returns what files have.
func contents(t testing.TB, files []string) []string {
	t.Helper()
	var all []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// TestFiles verifies which objects a name means, in their order, with the content and the names of the objects.
func TestFiles(t *testing.T) {
	newBucket(t, map[string]string{
		"lake/day=2026-01-02/b.csv": "2b", "lake/day=2026-01-01/a.csv": "1a", "lake/day=2026-01-01/b.csv": "1b", "lake/_SUCCESS": "", "lake/.part": "x",
		"one.csv": "one", "one.csv.bak": "bak", "what?.csv": "literal", "whats.csv": "other",
	})
	for _, tt := range []struct {
		name, want string
		suffix     string // of the first path
	}{
		{"s3://lake/lake", "1a 1b 2b", "/s3/lake/lake/day=2026-01-01/a.csv"},
		{"s3://lake/lake/", "1a 1b 2b", "/s3/lake/lake/day=2026-01-01/a.csv"},
		{"s3://lake/lake/**/b.csv", "1b 2b", "/s3/lake/lake/day=2026-01-01/b.csv"},
		{"s3://lake/lake/day=*/b.csv", "1b 2b", "/s3/lake/lake/day=2026-01-01/b.csv"},
		{"s3://lake/one.csv", "one", "/s3/lake/one.csv"},
		{"s3://lake/what?.csv", "literal", "/s3/lake/what?.csv"},
		{"s3://lake/wha?s.csv", "other", "/s3/lake/whats.csv"},
	} {
		s := newStore(t, t.TempDir())
		files, err := s.Files(t.Context(), "/local/file", tt.name)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if files[0] != "/local/file" || !strings.HasSuffix(files[1], tt.suffix) || strings.Join(contents(t, files[1:]), " ") != tt.want {
			t.Errorf("%s: files %q, want %q", tt.name, files, tt.want)
		}
		again, err := s.Files(context.Background(), "/local/file", tt.name)
		if err != nil || !slices.Equal(again, files) {
			t.Errorf("%s: again %q, error %v", tt.name, again, err)
		}
	}
}

// TestNotThere verifies the codes and words of names that mean nothing.
func TestNotThere(t *testing.T) {
	b := newBucket(t, map[string]string{"a/_hidden": "x", "delta/_delta_log/0.json": "{}", "delta/x.csv": "x"})
	for _, tt := range []struct {
		name string
		code int
		want string
	}{
		{"s3://lake/nothing", exitcode.NoInput, "no input file s3://lake/nothing: " + b.url},
		{"s3://lake/a", exitcode.NoInput, "no input file s3://lake/a"},
		{"s3://lake/*.csv", exitcode.NoInput, "no input file s3://lake/*.csv"},
		{"s3://other/x", exitcode.NoInput, "s3://other/x/: 404 NoSuchBucket: The specified bucket does not exist; asked " + b.url},
		{"s3://lake/delta", exitcode.BadData, "Delta"},
		{"s3:///x", exitcode.Usage, "names no bucket"},
		{"s3://user:pw@lake/x", exitcode.Usage, "names no bucket"},
		{"gs://lake/x", exitcode.Usage, "want s3:// or https://"},
		{"http://host/x?sig=SECRET", exitcode.Usage, "http://host/x is not encrypted, want https://"},
		{"https://user:SECRET@host/x", exitcode.Usage, "a password or a user"},
	} {
		_, err := newStore(t, t.TempDir()).Files(t.Context(), tt.name)
		if exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: error %v (%d), want %d and %q", tt.name, err, exitcode.Of(err), tt.code, tt.want)
		}
	}
	if _, err := New(Config{}).Files(t.Context(), "s3://lake/a"); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "input.cache is off") {
		t.Errorf("without a cache: %v", err)
	}
}

// TestRanges verifies that a large object is copied in ranges, of which four are under way, and that nothing else is left.
func TestRanges(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 5*testPart/16) + "end"
	b := newBucket(t, map[string]string{"big": text})
	ranges := make(chan string, 100)
	b.front = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				ranges <- r.Header.Get("If-Match")
			}
			next.ServeHTTP(w, r)
		})
	}
	dir := t.TempDir()
	files, err := newStore(t, dir).Files(t.Context(), "s3://lake/big")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(files[0])
	if err != nil || !bytes.Equal(got, []byte(text)) {
		t.Errorf("the copy has %d bytes, error %v, want the object's %d", len(got), err, len(text))
	}
	if len(ranges) != 6 || <-ranges == "" {
		t.Errorf("%d ranges were asked for, want 6 with If-Match", len(ranges))
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left %q, want the copy and the file of what is used", left)
	}
}

// TestFaultyServer verifies that a copy survives refusals, resets and cuts of each third request, of listings, too.
func TestFaultyServer(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 3*testPart/16)
	b := newBucket(t, map[string]string{"in/big": text, "in/small": "small"})
	var asked atomic.Int64
	b.front = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := asked.Add(1)
			switch {
			case n%3 != 1:
				next.ServeHTTP(w, r)
			case n%2 == 0:
				http.Error(w, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
			default: // the head promises more than there is
				cut := httptest.NewRecorder()
				next.ServeHTTP(cut, r)
				for name := range cut.Header() {
					w.Header().Set(name, cut.Header().Get(name))
				}
				w.Header().Set("Content-Length", fmt.Sprint(cut.Body.Len()))
				w.WriteHeader(cut.Code)
				w.Write(cut.Body.Bytes()[:cut.Body.Len()/2])
				panic(http.ErrAbortHandler)
			}
		})
	}
	files, err := newStore(t, t.TempDir()).Files(t.Context(), "s3://lake/in")
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, files); len(got) != 2 || got[0] != text || got[1] != "small" {
		t.Errorf("%d files, or other bytes than the objects have", len(got))
	}
	if asked.Load() < 6 {
		t.Errorf("%d requests, want some that failed", asked.Load())
	}
}

// TestReplaced verifies that an object that is replaced amid its copy ends the copy, of which nothing is left, and that the
// next process copies the new one.
func TestReplaced(t *testing.T) {
	b := newBucket(t, map[string]string{"x": strings.Repeat("old", testPart)})
	var ranges atomic.Int64
	b.front = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" && ranges.Add(1) == 2 {
				b.put(t, "x", strings.Repeat("new", testPart))
			}
			next.ServeHTTP(w, r)
		})
	}
	dir := t.TempDir()
	_, err := newStore(t, dir).Files(t.Context(), "s3://lake/x")
	if exitcode.Of(err) != exitcode.BadData || !strings.Contains(fmt.Sprint(err), "input: s3://lake/x: it was replaced while it was copied; run the job again") {
		t.Errorf("error %v (%d)", err, exitcode.Of(err))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*-*-*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, error %v", left, err)
	}
	files, err := newStore(t, dir).Files(t.Context(), "s3://lake/x")
	if err != nil || !strings.HasPrefix(contents(t, files)[0], "new") {
		t.Errorf("again: error %v", err)
	}
}

// TestMoved verifies that a redirect to another host is not followed: the signature is for this one.
func TestMoved(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s is asked with %v", r.URL, r.Header) }))
	defer other.Close()
	b := newBucket(t, nil)
	b.front = func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		})
	}
	if _, err := newStore(t, t.TempDir()).Files(t.Context(), "s3://lake/x"); exitcode.Of(err) != exitcode.IO {
		t.Errorf("error %v (%d)", err, exitcode.Of(err))
	}
}
