package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

const (
	partBytes = 16 << 20 // of an object that one request asks for
	atOnce    = 4        // requests of a process
)

// source opens the bytes [from, to) of an object, those up to its end if to is -1. It fails with errChanged if the object is
// another one than was listed.
type source interface {
	open(ctx context.Context, o *object, from, to int64) (io.ReadCloser, error)
}

// errChanged reports an object that has another ETag, date or size than it was listed with.
var errChanged = errors.New("it was replaced while it was copied; run the job again, which copies the new one")

// fetch writes the content of o to file and returns its size.
func (s *Store) fetch(ctx context.Context, o *object, file io.WriterAt) (int64, error) {
	if o.size == 0 {
		return 0, nil
	}
	if o.whole || o.size < 0 {
		return s.span(ctx, o, file, 0, o.size)
	}
	parts := int((o.size-1)/s.part) + 1
	return o.size, input.SideBySide(ctx, parts, atOnce, func(_, i int) error {
		from := int64(i) * s.part
		_, err := s.span(ctx, o, file, from, min(from+s.part, o.size))
		return err
	})
}

// span writes the bytes [from, to) of o. After a fault it goes on with the byte reached, or from the first one if the server
// sends no ranges.
func (s *Store) span(ctx context.Context, o *object, file io.WriterAt, from, to int64) (int64, error) {
	at := from
	err := s.retry(ctx, o.url, func(g *guard) (gained int64, err error) {
		if o.whole {
			at = from
		}
		n, err := s.copy(g, o, file, at, to)
		at += n
		if o.whole {
			n = 0
		}
		return n, err
	})
	return at - from, err
}

// copy asks once for the bytes [at, to), and returns how many were written.
func (s *Store) copy(g *guard, o *object, file io.WriterAt, at, to int64) (n int64, err error) {
	body, err := o.from.open(g.ctx, o, at, to)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	g.r = body
	want := to - at
	if to < 0 {
		want = 1<<63 - 1
	}
	out := &disk{WriterAt: file, at: at}
	n, err = io.CopyBuffer(out, io.LimitReader(g, want), make([]byte, 256<<10))
	s.copied.Add(n)
	switch {
	case out.err != nil:
		return n, exitcode.With(exitcode.IO, out.err)
	case err == nil && to >= 0 && n < want:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// disk writes from a byte on, and keeps the error of the disk, which no other try mends.
type disk struct {
	io.WriterAt
	at  int64
	err error
}

func (d *disk) Write(p []byte) (int, error) {
	n, err := d.WriteAt(p, d.at)
	d.at += int64(n)
	if err != nil {
		d.err = err
	}
	return n, err
}

// stallTimeout is the time without a byte after which a request is given up.
const stallTimeout = 30 * time.Second

var errStalled = fmt.Errorf("nothing arrived for %v", stallTimeout)

// guard ends a request when it stalls.
type guard struct {
	r     io.Reader
	ctx   context.Context
	end   context.CancelCauseFunc
	timer *time.Timer
}

func watch(ctx context.Context) *guard {
	ctx, end := context.WithCancelCause(ctx)
	return &guard{ctx: ctx, end: end, timer: time.AfterFunc(stallTimeout, func() { end(errStalled) })}
}

func (g *guard) stop() {
	g.timer.Stop()
	g.end(nil)
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.timer.Reset(stallTimeout)
	return n, err
}

const (
	tries      = 5
	firstPause = 500 * time.Millisecond
	gainBytes  = 64 << 10 // a try that gains so many bytes is no failed one
)

// retry calls try until it succeeds, fails for good, or fails five times in a row without a gain.
func (s *Store) retry(ctx context.Context, what string, try func(g *guard) (gained int64, err error)) error {
	pause := s.Pause
	for failed := 0; ; {
		gained, err := s.once(ctx, try)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			return nil
		}
		if isFinal(err) {
			return fmt.Errorf("%s: %w", what, err)
		}
		failed++
		if gained >= gainBytes {
			failed, pause = 1, s.Pause
		}
		if failed == tries {
			return exitcode.With(exitcode.IO, fmt.Errorf("%s: tried %d times, the last time: %w", what, tries, err))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// once calls try with a slot. The error is the guard's if the guard has ended the try.
func (s *Store) once(ctx context.Context, try func(g *guard) (gained int64, err error)) (gained int64, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	g := watch(ctx)
	defer g.stop()
	gained, err = try(g)
	if err != nil && g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	return gained, err
}

// isFinal reports whether another try ends as this one: the error has a code, as those of the outside world's own faults
// do not.
func isFinal(err error) bool { return exitcode.Of(err) != exitcode.Failed }

// write makes the copy of o in a folder of its own, and gives the folder its name.
func (s *Store) write(ctx context.Context, o *object) (err error) {
	draft := s.draft(o)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(draft))
		}
	}()
	name := filepath.Join(draft, o.path)
	err = os.MkdirAll(filepath.Dir(name), 0o777)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	size, err := s.fetch(ctx, o, file)
	if err != nil {
		return errors.Join(fmt.Errorf("input: %w", err), file.Close())
	}
	o.size = size
	if err := s.publish(o, file, draft); err != nil {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	return nil
}

// publish gives the whole copy of o the time of the object, its mark, and its name.
func (s *Store) publish(o *object, file *os.File, draft string) error {
	if err := file.Close(); err != nil {
		return err
	}
	if !o.time.IsZero() {
		if err := os.Chtimes(file.Name(), o.time, o.time); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(draft, markFile), []byte(s.boot), 0o666); err != nil {
		return err
	}
	if s.has(o) { // another process has copied it for other names
		return os.RemoveAll(draft)
	}
	return errors.Join(os.RemoveAll(s.path(o.entry())), os.Rename(draft, s.path(o.entry())))
}
