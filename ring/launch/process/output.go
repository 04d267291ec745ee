package process

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"time"
)

// maxLineBytes bounds the bytes that a Prefixer holds of an incomplete line, unless it has a bound of its own.
const maxLineBytes = 1 << 20

// lineContinues ends all pieces of a long line but the last.
const lineContinues = " [line goes on]"

// timeLayout is RFC 3339 to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z "

// Prefixer turns the output of a rank into whole lines with a prefix. A longer line than Most
// comes in pieces. Without a prefix a Prefixer adds nothing but the newline of
// an incomplete last line.
type Prefixer struct {
	Prefix  string
	Clock   func() time.Time // time to write before the prefix; nil: none
	Most    int              // bytes of a line; 0: maxLineBytes
	partial []byte           // the incomplete line
}

// begin appends the time and the prefix of a line.
func (p *Prefixer) begin(dst []byte) []byte {
	if p.Clock != nil {
		dst = p.Clock().UTC().AppendFormat(dst, timeLayout)
	}
	return append(dst, p.Prefix...)
}

// Append appends the lines that chunk completes to dst.
func (p *Prefixer) Append(dst, chunk []byte) []byte {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			break
		}
		dst = p.begin(dst)
		dst = append(dst, p.partial...)
		dst = append(dst, chunk[:i+1]...)
		p.partial, chunk = p.partial[:0], chunk[i+1:]
	}
	p.partial = append(p.partial, chunk...)
	for most := cmp.Or(p.Most, maxLineBytes); len(p.partial) > most; {
		dst = p.begin(dst)
		dst = append(dst, p.partial[:most]...)
		if p.Prefix != "" {
			dst = append(dst, lineContinues+"\n"...)
		}
		p.partial = append(p.partial[:0], p.partial[most:]...)
	}
	return dst
}

// Finish appends the incomplete line to dst, at the end of the output.
func (p *Prefixer) Finish(dst []byte) []byte {
	if len(p.partial) == 0 {
		return dst
	}
	dst = p.begin(dst)
	dst = append(dst, p.partial...)
	p.partial = nil
	return append(dst, '\n')
}

// pipeReader reads one of the two outputs of a rank, from the read end of its pipe.
type pipeReader struct{ pipe *os.File }

// maxPipeBytes bounds the bytes that a pipe holds.
const maxPipeBytes = 1 << 20

// readAll calls hear with each chunk of the output until all writers have closed it, and
// then with an empty chunk. After the read deadline it reads only what is in the pipe
// already.
func (p pipeReader) readAll(hear func(chunk []byte)) {
	defer hear(nil)
	defer p.pipe.Close()
	chunk := make([]byte, 32<<10)
	for late, spare := false, maxPipeBytes; spare > 0; {
		if late {
			p.pipe.SetReadDeadline(time.Now().Add(sweepInterval))
		}
		n, err := p.pipe.Read(chunk)
		if n > 0 {
			hear(chunk[:n])
		}
		switch {
		case late:
			spare -= n
		case errors.Is(err, os.ErrDeadlineExceeded):
			late, err = true, nil
		}
		if err != nil {
			return
		}
	}
}
