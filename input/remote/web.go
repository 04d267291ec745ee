package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// webSource asks servers of https://.
type webSource struct{ client *http.Client }

func newWeb() *webSource {
	transport, _ := newTransport("") // has no file to fail
	return &webSource{&http.Client{Transport: transport, CheckRedirect: checkRedirect}}
}

// checkRedirect follows up to ten redirects, none of which leaves TLS. No request has credentials: none can be handed on.
func checkRedirect(to *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return exitcode.With(exitcode.IO, fmt.Errorf("redirected %d times", len(via)))
	case via[0].URL.Scheme == "https" && to.URL.Scheme != "https":
		return exitcode.With(exitcode.Auth, fmt.Errorf("redirected to %s, which is not encrypted", shown(to.URL)))
	}
	return nil
}

// webFile is where an object of https:// is.
type webFile struct {
	*webSource
	url     string
	changed string
}

// list returns the one file of a URL.
func (w *webSource) list(ctx context.Context, store *Store, name string) ([]*object, error) {
	u, err := webURL(name)
	if err != nil {
		return nil, err
	}
	o := &object{url: shown(u), id: name, path: safePath(u.Scheme + "/" + u.Host + u.Path), size: -1}
	err = store.retry(ctx, "input: "+o.url, func(g *guard) (int64, error) { return 0, w.ask(g.ctx, o, name) })
	if err != nil {
		return nil, err
	}
	if o.etag == "" {
		store.Notice(fmt.Sprintf("%s: the server tells neither ETag nor date: a copy that is there counts as the newest", o.url))
	}
	return []*object{o}, nil
}

// ask asks for the first byte, which tells the rest: many servers answer HEAD in another way, or not at all.
func (w *webSource) ask(ctx context.Context, o *object, name string) error {
	r, err := w.get(ctx, name, http.Header{"Range": {"bytes=0-0"}})
	if err != nil {
		return err
	}
	defer r.Body.Close()
	f := &webFile{webSource: w, url: name, changed: r.Header.Get("Last-Modified")}
	o.etag, o.from = r.Header.Get("ETag"), f
	if strings.HasPrefix(o.etag, `"`) { // a weak one equals none
		o.tag = o.etag
	}
	o.etag = cmp.Or(o.etag, f.changed)
	o.time, _ = http.ParseTime(f.changed)
	_, total, _ := strings.Cut(r.Header.Get("Content-Range"), "/")
	switch r.StatusCode {
	case http.StatusOK:
		o.whole, o.size = true, r.ContentLength
		return nil
	case http.StatusPartialContent:
		if o.size, err = strconv.ParseInt(total, 10, 64); err != nil || o.size < 0 {
			o.whole, o.size = true, -1
		}
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		if total == "0" {
			o.size = 0
			return nil
		}
	}
	return fault(r)
}

// open is that of source.
func (f *webFile) open(ctx context.Context, o *object, from, to int64) (io.ReadCloser, error) {
	header := http.Header{}
	if !o.whole {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to-1))
	}
	switch {
	case o.tag != "":
		header.Set("If-Match", o.tag)
	case f.changed != "":
		header.Set("If-Unmodified-Since", f.changed)
	}
	r, err := f.get(ctx, f.url, header)
	if err != nil {
		return nil, err
	}
	etag := cmp.Or(r.Header.Get("ETag"), r.Header.Get("Last-Modified"))
	switch {
	case r.StatusCode >= 300:
		err = fault(r)
	case etag != o.etag, o.whole && o.size >= 0 && r.ContentLength != o.size, r.StatusCode == http.StatusPartialContent && !isRange(r.Header.Get("Content-Range"), from, to, o.size):
		err = exitcode.With(exitcode.BadData, errChanged)
	case !o.whole && r.StatusCode != http.StatusPartialContent && (from != 0 || to != o.size):
		err = fmt.Errorf("the server sends no range now: %s", r.Status)
	default:
		return r.Body, nil
	}
	r.Body.Close()
	return nil, err
}

func (w *webSource) get(ctx context.Context, url string, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, plain(err))
	}
	request.Header = header
	header.Set("User-Agent", "ringtrain")
	r, err := w.client.Do(request)
	if err != nil {
		return nil, plain(err)
	}
	return r, nil
}

// fault returns the error of an answer, with a code if another try does not mend it.
func fault(r *http.Response) error {
	err := fmt.Errorf("%s", phrase.Foreign(r.Status, maxWords))
	switch status := r.StatusCode; {
	case status == http.StatusPreconditionFailed:
		return exitcode.With(exitcode.BadData, errChanged)
	case status == http.StatusNotFound, status == http.StatusGone:
		return exitcode.With(exitcode.NoInput, err)
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return exitcode.With(exitcode.Auth, fmt.Errorf("%w; asked without credentials", err))
	case isRefusal(status):
		return exitcode.With(exitcode.IO, err)
	}
	return err
}
