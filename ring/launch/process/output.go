package process

import (
	"bytes"
	"errors"
	"os"
	"time"
)

// maxLineBytes bounds what is held of a line that does not end.
const maxLineBytes = 1 << 20

// lineCut ends the pieces of a longer line, the last one apart.
const lineContinues = " [line goes on]"

// stampLayout is RFC 3339 to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z "

// Prefixer turns what a rank writes into whole lines with its prefix. A line of
// more than maxLineBytes comes in pieces. Without a prefix nothing is added,
// but the newline that a last line lacks.
type Prefixer struct {
	Prefix  string
	Clock   func() time.Time // the time before the prefix; nil for none
	partial []byte           // the line that is not complete yet
}

// begin begins a line.
func (l *Prefixer) begin(dst []byte) []byte {
	if l.Clock != nil {
		dst = l.Clock().UTC().AppendFormat(dst, timeLayout)
	}
	return append(dst, l.Prefix...)
}

// append adds the lines that chunk completes to dst.
func (l *Prefixer) Append(dst, chunk []byte) []byte {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			break
		}
		dst = l.begin(dst)
		dst = append(dst, l.partial...)
		dst = append(dst, chunk[:i+1]...)
		l.partial, chunk = l.partial[:0], chunk[i+1:]
	}
	l.partial = append(l.partial, chunk...)
	for len(l.partial) > maxLineBytes {
		dst = l.begin(dst)
		dst = append(dst, l.partial[:maxLineBytes]...)
		if l.Prefix != "" {
			dst = append(dst, lineContinues+"\n"...)
		}
		l.partial = append(l.partial[:0], l.partial[maxLineBytes:]...)
	}
	return dst
}

// finish adds what is left when the rank has closed its output.
func (l *Prefixer) Finish(dst []byte) []byte {
	if len(l.partial) == 0 {
		return dst
	}
	dst = l.begin(dst)
	dst = append(dst, l.partial...)
	l.partial = nil
	return append(dst, '\n')
}

// stream is one of the two outputs of a rank: the read end of its pipe.
type pipeReader struct{ pipe *os.File }

// maxPipeBytes is the most that a pipe holds.
const maxPipeBytes = 1 << 20

// pass gives hear what comes in s until all writers have closed it, and then
// an empty chunk. Once its read deadline has passed it passes on what still
// lies in the pipe, and no more.
func (s pipeReader) readAll(hear func(chunk []byte)) {
	defer hear(nil)
	defer s.pipe.Close()
	chunk := make([]byte, 32<<10)
	for late, spare := false, maxPipeBytes; spare > 0; {
		if late {
			s.pipe.SetReadDeadline(time.Now().Add(sweepInterval))
		}
		n, err := s.pipe.Read(chunk)
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
