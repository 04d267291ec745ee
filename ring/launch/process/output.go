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
const lineCut = " [line goes on]"

// stampLayout is RFC 3339 to the millisecond.
const stampLayout = "2006-01-02T15:04:05.000Z "

// Prefixer turns what a rank writes into whole lines with its prefix. A line of
// more than maxLineBytes comes in pieces. Without a prefix nothing is added,
// but the newline that a last line lacks.
type Prefixer struct {
	Prefix string
	Clock  func() time.Time // the time before the prefix; nil for none
	rest   []byte           // the line that is not complete yet
}

// begin begins a line.
func (l *Prefixer) begin(dst []byte) []byte {
	if l.Clock != nil {
		dst = l.Clock().UTC().AppendFormat(dst, stampLayout)
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
		dst = append(dst, l.rest...)
		dst = append(dst, chunk[:i+1]...)
		l.rest, chunk = l.rest[:0], chunk[i+1:]
	}
	l.rest = append(l.rest, chunk...)
	for len(l.rest) > maxLineBytes {
		dst = l.begin(dst)
		dst = append(dst, l.rest[:maxLineBytes]...)
		if l.Prefix != "" {
			dst = append(dst, lineCut+"\n"...)
		}
		l.rest = append(l.rest[:0], l.rest[maxLineBytes:]...)
	}
	return dst
}

// finish adds what is left when the rank has closed its output.
func (l *Prefixer) Finish(dst []byte) []byte {
	if len(l.rest) == 0 {
		return dst
	}
	dst = l.begin(dst)
	dst = append(dst, l.rest...)
	l.rest = nil
	return append(dst, '\n')
}

// stream is one of the two outputs of a rank: the read end of its pipe.
type stream struct{ from *os.File }

// maxPipeBytes is the most that a pipe holds.
const maxPipeBytes = 1 << 20

// pass gives hear what comes in s until all writers have closed it, and then
// an empty chunk. Once its read deadline has passed it passes on what still
// lies in the pipe, and no more.
func (s stream) pass(hear func(chunk []byte)) {
	defer hear(nil)
	defer s.from.Close()
	chunk := make([]byte, 32<<10)
	for late, spare := false, maxPipeBytes; spare > 0; {
		if late {
			s.from.SetReadDeadline(time.Now().Add(sweepEvery))
		}
		n, err := s.from.Read(chunk)
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
