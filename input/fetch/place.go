package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// stallTimeout is the time without a byte after which a transfer ends.
const stallTimeout = 30 * time.Second

var errStalled = fmt.Errorf("nothing arrived for %v", stallTimeout)

// open opens a URL or a file. The reader fails when ctx ends.
func open(ctx context.Context, place string) (io.ReadCloser, error) {
	if !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://") {
		f, _, err := input.OpenRaw(place)
		return f, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	request.Header.Set("Accept-Encoding", "identity") // the sums are those of the published files
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = stallTimeout
	transport.DisableKeepAlives = true
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, exitcode.With(exitcode.IO, err)
	}
	if response.StatusCode != http.StatusOK {
		err = exitcode.With(exitcode.NoInput, fmt.Errorf("%s: %s", place, response.Status))
		return nil, errors.Join(err, response.Body.Close())
	}
	return response.Body, nil
}

// guard forwards a transfer, reports its progress, and ends it when it stalls or its
// context ends.
type guard struct {
	ctx    context.Context
	r      io.Reader
	timer  *time.Timer
	done   int64
	report func(done int64)
}

// watch guards r, which must fail when ctx ends; cancel ends ctx.
func watch(ctx context.Context, cancel context.CancelCauseFunc, r io.Reader) *guard {
	return &guard{ctx: ctx, r: r, timer: time.AfterFunc(stallTimeout, func() { cancel(errStalled) })}
}

func (g *guard) stop() { g.timer.Stop() }

func (g *guard) Read(p []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	n, err := g.r.Read(p)
	g.timer.Reset(stallTimeout)
	g.done += int64(n)
	g.report(g.done)
	if g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	return n, err
}
