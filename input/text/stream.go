package text

import (
	"context"
	"io"
	"sync"

	"ringtrain/input"
)

// HoldBytes bounds the text of a compressed file that is held in memory: one window of blocks. The
// text of a larger file is read as a stream.
const HoldBytes = input.WindowBlocks * input.BlockBytes

// historyBytes is how far a stream can be read again without inflating it from the beginning.
const historyBytes = 2 << 20

// stream is the content of a compressed file, which is inflated as far as it is asked for.
// Reading forward is cheap. Reading far back inflates the file from its beginning.
type stream struct {
	ctx    context.Context // of Open
	name   string
	limits input.Limits

	mu   sync.Mutex
	file *input.File // nil: not begun
	from int64       // offset of data
	data []byte      // the text that was inflated last
}

// ReadAt reads the text at an offset, as io.ReaderAt says.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || off < s.from {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	for s.from+int64(len(s.data)) < off+int64(len(p)) {
		s.forget(off)
		if err := s.more(); err == io.EOF {
			break
		} else if err != nil {
			return 0, input.ReadError(s.name, err)
		}
	}
	if off >= s.from+int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(p, s.data[off-s.from:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// begin opens the file at its beginning.
func (s *stream) begin() error {
	if err := s.close(); err != nil {
		return err
	}
	var err error
	s.file, err = input.OpenText(s.ctx, s.name, s.limits)
	s.from, s.data = 0, s.data[:0]
	return err
}

// forget drops the text before off, as far as it is not the history.
func (s *stream) forget(off int64) {
	drop := min(off-s.from, int64(len(s.data)-historyBytes))
	if drop >= historyBytes {
		s.data = s.data[:copy(s.data, s.data[drop:])]
		s.from += drop
	}
}

// more inflates more of the file.
func (s *stream) more() error {
	have := len(s.data)
	if cap(s.data)-have < input.BlockBytes {
		s.data = append(s.data, make([]byte, max(have, input.BlockBytes))...)[:have]
	}
	n, err := s.file.Read(s.data[have : have+input.BlockBytes])
	s.data = s.data[:have+n]
	if n > 0 {
		return nil
	}
	return err
}

func (s *stream) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// unpack finds the text of a compressed file: it lies in memory, or is a stream.
func (f *file) unpack(ctx context.Context, limits input.Limits) error {
	name := f.Path
	r, err := input.OpenText(ctx, name, limits)
	if err != nil {
		return err
	}
	defer r.Close()
	held := new(input.Memory)
	if _, err := held.ReadFrom(io.LimitReader(r, HoldBytes+1)); err != nil {
		return input.ReadError(name, err)
	}
	if f.textSize = held.Size(); f.textSize <= HoldBytes {
		f.held = held
		return nil
	}
	rest, err := io.Copy(io.Discard, r)
	if err != nil {
		return input.ReadError(name, err)
	}
	f.textSize += rest
	f.stream = &stream{ctx: ctx, name: name, limits: limits}
	return nil
}

// Packed reports whether a file is compressed, and whether its text is larger than what is
// held in memory.
func Packed(ctx context.Context, name string, limits input.Limits) (packed, large bool, err error) {
	r, err := input.OpenText(ctx, name, limits)
	if err != nil {
		return false, false, err
	}
	defer r.Close()
	if !r.Compressed {
		return false, false, nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, HoldBytes+1))
	if err != nil {
		return true, false, input.ReadError(name, err)
	}
	return true, n > HoldBytes, nil
}

// Inflate writes the text of a compressed file, or a plain one, to w.
func Inflate(ctx context.Context, w io.Writer, name string, limits input.Limits) error {
	r, err := input.OpenText(ctx, name, limits)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, failing{r, name})
	return err
}

// failing has errors of reads that name the file.
type failing struct {
	r    io.Reader
	name string
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		err = input.ReadError(f.name, err)
	}
	return n, err
}
