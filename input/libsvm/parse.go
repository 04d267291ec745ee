package libsvm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ringtrain/input"
)

// maxLine bounds the length of a line in bytes.
const maxLine = 64 << 20

// rows are records in memory: row i has the pairs start[i] to start[i+1].
type rows struct {
	labels []float32
	start  []int
	ids    []uint32
	values []float32
}

// parser adds the lines of files to rows.
type parser struct {
	rows
	config Config
	bound  input.IDs
	first  int   // record of the file that is read
	size   int64 // bytes of the files
	low    place // the smallest of all files, where it is below the base
	high   place // the largest, where rows are made dense
}

func newParser(c Config) parser {
	return parser{config: c, bound: c.Limits.IDs(c.Features), rows: rows{start: []int{0}}}
}

// A place is where an index stands.
type place struct {
	index int64
	file  string
	line  int // 0: there is none
}

// file adds a file and returns its size on disk.
func (p *parser) file(name string) (bytes int64, err error) {
	f, err := input.OpenFile(name, p.config.Limits)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p.first = len(p.labels)
	return f.Bytes, p.read(f, name)
}

// read adds the lines of r.
func (p *parser) read(r io.Reader, name string) error {
	buffered := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for line := 1; ; line++ {
		text, err := readLine(buffered, &long)
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errLong):
			return flaw(name, line, err)
		case err != nil:
			return input.ReadError(name, err)
		}
		if err := p.add(string(text), name, line); err != nil {
			return flaw(name, line, err)
		}
	}
}

var errLong = fmt.Errorf("line is longer than %d bytes", maxLine)

// readLine returns the next line without its end, valid until the next call. At
// the end of the file it returns io.EOF. Memory for long lines is kept in *long.
func readLine(r *bufio.Reader, long *[]byte) ([]byte, error) {
	*long = (*long)[:0]
	for {
		piece, err := r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			if *long = append(*long, piece...); len(*long) > maxLine {
				return nil, errLong
			}
			continue
		case err == io.EOF && len(piece)+len(*long) > 0:
			// the last line has no end
		case err != nil:
			return nil, err
		}
		if len(*long) > 0 {
			*long = append(*long, piece...)
			piece = *long
		}
		return piece, nil
	}
}

// add parses a line.
func (p *parser) add(text, name string, line int) error {
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	word, text := nextWord(text)
	if word == "" {
		return nil
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return fmt.Errorf("label is %.40q, want a number", word)
	}
	y, err := p.config.Labels.Value(v)
	if err != nil {
		return err
	}
	for k := 1; ; k++ {
		if word, text = nextWord(text); word == "" {
			break
		}
		if k == 1 && strings.HasPrefix(word, "qid:") {
			continue
		}
		if err := p.pair(word, name, line); err != nil {
			return err
		}
	}
	p.labels = append(p.labels, y)
	p.start = append(p.start, len(p.ids))
	return nil
}

// pair parses and adds one index:value.
func (p *parser) pair(word, name string, line int) error {
	left, right, ok := strings.Cut(word, ":")
	index, err := strconv.ParseInt(left, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%.40q, want index:value", word)
	}
	wide, err := strconv.ParseFloat(right, 32)
	value := float32(wide)
	if err != nil || !input.Finite(value) {
		return fmt.Errorf("%.40q: value is %.40q, want a finite float32", word, right)
	}
	base := int64(p.config.Base)
	if index < base {
		if p.low.line == 0 || index < p.low.index {
			p.low = place{index, name, line}
		}
		return nil // go on, to report the smallest of all
	}
	if below := p.bound.Below; index-base >= below {
		return fmt.Errorf("record %d: index is %d, want one in [%d, %d)%s", len(p.labels)-p.first, index, base, base+below, p.bound.Why)
	}
	if p.config.Dense && index >= p.high.index {
		p.high = place{index, name, line}
	}
	p.ids, p.values = append(p.ids, uint32(index-base)), append(p.values, value)
	return nil
}

// nextWord cuts the first word off s.
func nextWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
