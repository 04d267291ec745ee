package remote

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
)

// TestWeb verifies that files of servers of all manners are copied: with and without ranges, ETags, dates and sizes, empty
// ones, and such as are redirected.
func TestWeb(t *testing.T) {
	text := strings.Repeat("0123456789", 2*testPart/10+7)
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	serve := func(head map[string]string, content string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for name, value := range head {
				w.Header().Set(name, value)
			}
			http.ServeContent(w, r, "", date, strings.NewReader(content))
		}
	}
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s is handed to another host", name)
			}
		}
		serve(map[string]string{"ETag": `"other"`}, text)(w, r)
	}))
	defer other.Close()
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		content string
		etag    string
	}{
		{"ranges", serve(map[string]string{"ETag": `"strong"`}, text), text, `"strong"`},
		{"weak", serve(map[string]string{"ETag": `W/"weak"`}, text), text, `W/"weak"`},
		{"date alone", serve(nil, text), text, date.Format(http.TimeFormat)},
		{"empty", serve(map[string]string{"ETag": `"empty"`}, ""), "", `"empty"`},
		{"no ranges", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			w.Write([]byte(text))
		}, text, ""},
		{"no length", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			w.Write([]byte(text))
		}, text, ""},
		{"unknown total", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-0/*")
				w.WriteHeader(http.StatusPartialContent)
				w.Write([]byte(text[:1]))
				return
			}
			w.Write([]byte(text))
		}, text, ""},
		{"redirected", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/x?sig=SECRET", http.StatusFound)
		}, text, `"other"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewTLSServer(tt.handler)
			defer server.Close()
			s := webStore(t, server)
			files, err := s.Files(t.Context(), server.URL+"/some/file.csv?sig=SECRET")
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(files[0])
			if err != nil || string(got) != tt.content || !strings.HasSuffix(files[0], "/some/file.csv") || strings.Contains(files[0], "SECRET") {
				t.Errorf("%s has %d bytes, error %v, want %d", files[0], len(got), err, len(tt.content))
			}
			o := s.known[server.URL+"/some/file.csv?sig=SECRET"][0]
			if o.etag != tt.etag || o.size != int64(len(tt.content)) {
				t.Errorf("ETag %q and %d bytes, want %q and %d", o.etag, o.size, tt.etag, len(tt.content))
			}
			if len(s.used.names) == 0 || !s.used.names[o.entry()] {
				t.Errorf("%v are kept, want %s", s.used.names, o.entry())
			}
			if again, err := webStoreIn(t, server, s.Dir).Files(t.Context(), server.URL+"/some/file.csv?sig=SECRET"); err != nil || again[0] != files[0] {
				t.Errorf("again %q, error %v", again, err)
			}
		})
	}
}

// webStore returns a Store that trusts a server.
func webStore(t *testing.T, server *httptest.Server) *Store {
	t.Helper()
	return webStoreIn(t, server, t.TempDir())
}

func webStoreIn(t *testing.T, server *httptest.Server, dir string) *Store {
	t.Helper()
	s := newStore(t, dir)
	s.web = newWeb()
	s.web.client.Transport = server.Client().Transport
	return s
}

// TestWebFaults verifies the codes and words of refusals, and that none tells the query of a URL.
func TestWebFaults(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	calls := 0
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		code    int
		want    string
	}{
		{"404", status(404), exitcode.NoInput, "404 Not Found"},
		{"403", status(403), exitcode.Auth, "403 Forbidden; asked without credentials"},
		{"400", status(400), exitcode.IO, "400 Bad Request"},
		{"503", status(503), exitcode.IO, "tried 5 times, the last time: 503 Service Unavailable"},
		{"to http", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://host/x?sig=SECRET", http.StatusFound)
		}, exitcode.Auth, "redirected to http://host/x, which is not encrypted"},
		{"in circles", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) }, exitcode.IO, "redirected 10 times"},
		{"replaced", func(w http.ResponseWriter, r *http.Request) {
			calls++
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, calls))
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		}, exitcode.BadData, "it was replaced while it was copied"},
		{"replaced, no If-Match", func(w http.ResponseWriter, r *http.Request) {
			calls++
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, calls))
			w.Header().Set("Content-Range", "bytes 0-9/10")
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("0123456789"))
		}, exitcode.BadData, "it was replaced while it was copied"},
		{"other size", func(w http.ResponseWriter, r *http.Request) {
			calls++
			w.Header().Set("ETag", `"same"`)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", 10+calls))
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("0123456789"))
		}, exitcode.BadData, "it was replaced while it was copied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewTLSServer(tt.handler)
			defer server.Close()
			_, err := webStore(t, server).Files(t.Context(), server.URL+"/file?sig=SECRET")
			if exitcode.Of(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) || strings.Contains(fmt.Sprint(err), "SECRET") {
				t.Errorf("error %v (%d), want %d and %q", err, exitcode.Of(err), tt.code, tt.want)
			}
		})
	}
	server := httptest.NewUnstartedServer(status(200))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	server.StartTLS()
	defer server.Close()
	_, err := newStore(t, t.TempDir()).Files(t.Context(), server.URL+"/file")
	if exitcode.Of(err) != exitcode.Auth || !strings.Contains(err.Error(), "tls: failed to verify certificate") {
		t.Errorf("a certificate that nobody knows: %v (%d)", err, exitcode.Of(err))
	}
}

// TestPublic verifies that texts for people have no part of a URL that may be secret, and all else.
func TestPublic(t *testing.T) {
	for text, want := range map[string]string{
		"the name https://h/x?sig=a/b%3D: want --format":      "the name https://h/x: want --format",
		"files is [https://u:pw@h:1/x?sig=a s3://b/?.csv].":   "files is [https://h:1/x s3://b/?.csv].",
		"[https://h/x?sig=a], want\nhttp://u@h/y?sig":         "[https://h/x], want\nhttp://h/y",
		"s3://key:secret@bucket/x, which column? a@b://c/d@e": "s3://bucket/x, which column? a@b://c/d@e",
	} {
		if got := Public(text); got != want {
			t.Errorf("Public(%q) = %q, want %q", text, got, want)
		}
	}
}
