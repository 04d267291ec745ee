package text

import (
	"bytes"
	"fmt"
	"io"

	"ringtrain/input"
)

// lines is one block in memory: the lines of the records that begin in it.
type lines struct {
	file  int    // of a Set
	from  int64  // offset of data in the file
	data  []byte // with Pad bytes behind it
	spans []span
	zeros bool // a byte of data is 0
}

// span is the range of data that a line and its end occupy.
type span struct{ from, to uint32 }

func (l *lines) line(k int) []byte {
	s := l.spans[k]
	return l.data[s.from : s.to : s.to+Pad]
}

// text is line of a line that is text.
func (l *lines) text(k int) ([]byte, error) {
	line := l.line(k)
	if l.zeros {
		if at := bytes.IndexByte(line, 0); at >= 0 {
			return nil, WithLines(line, fmt.Errorf("byte %d of the line is 0, want text", at))
		}
	}
	return line, nil
}

func (l *lines) offset(k int) int64 { return l.from + int64(l.spans[k].from) }

// tail is the number of bytes read behind a block, for a line that crosses the end of the block.
const tail = 4 << 10

// mostKept is how much memory is used again. A block takes more where a line is long.
const mostKept = 1 << 20

// load reads block number key of the Set, and returns how much memory it takes.
func (s *Set) load(key int, l *lines) (int64, error) {
	l.file = s.FileOf(key)
	f := s.files[l.file]
	r, err := f.open()
	if err != nil {
		return 0, err
	}
	defer f.release(r)
	b := blockReader{lines: l, file: f, r: r, config: &s.config}
	if err := b.read(key - f.first); err != nil {
		return 0, err
	}
	if b.long >= 0 {
		return 0, s.tooLong(f, b.long)
	}
	if f.header == key-f.first && len(l.spans) > 0 {
		l.spans = l.spans[1:]
	}
	if len(l.spans) != s.blocks.Count(key) {
		return 0, s.otherCount(f, key, len(l.spans))
	}
	return int64(cap(l.data)) + 8*int64(cap(l.spans)), nil
}

// otherCount is the error of a block that has other records than when it was counted.
func (s *Set) otherCount(f *file, block, records int) error {
	what := fmt.Sprintf("block at byte %d has %d records, and had %d", int64(block-f.first)*input.BlockBytes, records, s.blocks.Count(block))
	if s.joined {
		what += ", unless a rank that shared the counting has another file"
	}
	return f.Changed(what)
}

// blockReader reads a block and finds its lines.
type blockReader struct {
	*lines
	file   *file
	r      io.ReaderAt
	config *Config

	quoting Quoting // of data
	long    int64   // offset of a record that is too long, or −1
}

// read fills lines with block number b of the file.
func (b *blockReader) read(number int) error {
	first := int64(number) * input.BlockBytes
	end := min(first+input.BlockBytes, b.file.textSize)
	if cap(b.data) > mostKept {
		b.data = nil
	}
	b.long, b.from, b.data, b.spans = -1, max(first-1, 0), b.data[:0], b.spans[:0]
	if err := b.extend(end + tail); err != nil {
		return err
	}
	at := int(first - b.from)
	if first == 0 {
		at = markLength(b.data)
	} else if p := b.place(number); p == inQuotes || b.data[0] != '\n' {
		var err error
		if at, err = b.lineEnd(at, p); err != nil {
			return err
		}
	}
	for at < int(end-b.from) && b.long < 0 {
		start, holds, err := b.begin(at)
		if err != nil {
			return err
		}
		p := fieldStart
		if start > at {
			p = inField
		}
		next, err := b.lineEnd(start, p)
		if err != nil {
			return err
		}
		if next-at > MaxLine {
			b.long = b.from + int64(at)
		}
		if holds {
			b.spans = append(b.spans, span{uint32(at), uint32(next)})
		}
		at = next
	}
	return nil
}

// begin passes over the blanks that the line at place at begins with. It reports whether
// the line holds a record.
func (b *blockReader) begin(at int) (int, bool, error) {
	for {
		for at < len(b.data) && b.config.blank(b.data[at]) {
			at++
		}
		if at < len(b.data) {
			c := b.data[at]
			return at, c != '\n' && (c != b.config.Comment || c == 0), nil
		}
		if more, err := b.more(at); !more {
			return at, false, err
		}
	}
}

// place returns where in a line a block begins.
func (b *blockReader) place(number int) place {
	if b.file.places == nil {
		return fieldStart
	}
	return b.file.places[number] &^ fresh
}

// lineEnd returns the position behind the line end that follows position at.
func (b *blockReader) lineEnd(at int, p place) (int, error) {
	start := at
	for {
		n, after, ended := b.quoting.line(b.data[at:], p)
		at, p = at+n, after
		if ended {
			return at, nil
		}
		if more, err := b.more(start); !more {
			return len(b.data), err
		}
	}
}

// more reads more of the file, where the line at place start goes on. It returns false at
// the end of the file, whose last line then ends with \n, and of a line that is too long.
func (b *blockReader) more(start int) (bool, error) {
	have := b.from + int64(len(b.data))
	if have >= b.file.textSize {
		b.data = append(b.data, '\n')
		return false, nil
	}
	if len(b.data)-start > MaxLine {
		b.long = b.from + int64(start)
		return false, nil
	}
	return true, b.extend(have + int64(max(len(b.data), input.BlockBytes)))
}

// extend reads on up to an offset or the end of the file.
func (b *blockReader) extend(to int64) error {
	have := len(b.data)
	n := int(min(to, b.file.textSize)-b.from) - have
	b.grow(n)
	b.data = b.data[:have+n]
	if got, err := b.r.ReadAt(b.data[have:], b.from+int64(have)); got < n {
		return b.file.readError(err)
	}
	b.quoting, b.zeros = b.config.quoting(b.data), bytes.IndexByte(b.data, 0) >= 0
	return nil
}

// grow makes room for n bytes, a line end and Pad bytes.
func (b *blockReader) grow(n int) {
	if need := len(b.data) + n + 1 + Pad; cap(b.data) < need {
		larger := make([]byte, len(b.data), need+need/8)
		copy(larger, b.data)
		b.data = larger
	}
}
