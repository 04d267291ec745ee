package remote

import (
	"context"
	"io"
	"net/url"
)

// Download writes the content of an http:// or https:// file to w, with the tries of a Store. Its name may be of http://: the
// caller knows the sum of the content.
func (s *Store) Download(ctx context.Context, name string, w io.Writer) error {
	u, err := url.Parse(name)
	if err != nil {
		return usage("%w", err)
	}
	o, web := &object{url: shown(u), size: -1}, newWeb()
	if err := s.retry(ctx, o.url, func(g *guard) (int64, error) { return 0, web.ask(g.ctx, o, name) }); err != nil || o.size == 0 {
		return err
	}
	_, err = s.span(ctx, o, &inOrder{w: w}, 0, o.size)
	return err
}

// inOrder writes bytes that come in order to w, those that come again once.
type inOrder struct {
	w  io.Writer
	at int64
}

func (o *inOrder) WriteAt(p []byte, at int64) (int, error) {
	skip := min(o.at-at, int64(len(p)))
	n, err := o.w.Write(p[skip:])
	o.at += int64(n)
	return int(skip) + n, err
}
