package text

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
)

// MaxLine bounds the length of a line in bytes.
const MaxLine = 64 << 20

// stretchBlocks is the number of blocks that one goroutine counts at a time.
const stretchBlocks = 64

// stretch is a run of blocks of one file.
type stretch struct {
	file        *file
	first, last int // blocks of the file
	counts      []uint16
	states      []bool // of each block: an odd number of quotes stands before it in the stretch

	// With quotes nobody knows, before the blocks before it are counted, whether a stretch
	// begins within quotes. Line ends count then where they would not, and the other way
	// round, so both are counted.
	inside []uint16
	odd    bool // the stretch has an odd number of quotes

	firstEnd, lastEnd int64 // offsets behind its first and its last line end; 0: it has none
	long              int64 // offset of a line that is too long, or −1
}

// count counts the records of all files, each record in the block that its line begins in.
// It also finds lines that are too long. With Config.Share it may count the first blocks only.
func (s *Set) count() error {
	if s.config.Share && !s.packed() && s.Bytes() > input.SharedBytes {
		if heads := s.heads(); s.countAll(heads) == nil && allHold(heads) {
			if err := s.join(heads); err != nil || s.Len() > 0 { // a header alone is no record
				s.uncounted = err == nil
				return err
			}
		}
	}
	all := s.stretches()
	if err := s.countAll(all); err != nil {
		return err
	}
	return s.join(all)
}

// layOut gives each file the number of its first block, and returns memory for the counts of all
// blocks.
func (s *Set) layOut() []uint16 {
	total := 0
	for _, f := range s.files {
		f.first = total
		total += f.blocks()
	}
	s.counts = make([]uint16, total)
	return s.counts
}

// stretches cuts the files into stretches.
func (s *Set) stretches() (all []*stretch) {
	counts := s.layOut()
	for _, f := range s.files {
		for b := 0; b < f.blocks(); b += stretchBlocks {
			all = append(all, s.newStretch(f, b, min(b+stretchBlocks, f.blocks()), counts))
		}
	}
	return all
}

func (s *Set) newStretch(f *file, first, last int, counts []uint16) *stretch {
	t := &stretch{file: f, first: first, last: last, counts: counts[f.first+first : f.first+last], long: -1}
	if s.config.Quote != 0 {
		t.inside, t.states = make([]uint16, last-first), make([]bool, last-first)
	}
	return t
}

// countAll counts stretches side by side.
func (s *Set) countAll(all []*stretch) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	faults := make([]error, len(all))
	for range max(1, min(s.goroutines(), len(all))) {
		wait.Go(func() {
			buf := make([]byte, input.BlockBytes)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				if faults[i] = s.countStretch(all[i], buf); faults[i] != nil {
					next.Store(int64(len(all)))
				}
			}
		})
	}
	wait.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// countStretch counts one stretch. buf has the length of a block.
func (s *Set) countStretch(t *stretch, buf []byte) error {
	r, err := t.file.open()
	if err != nil {
		return err
	}
	defer t.file.release(r)
	from, to := int64(t.first)*input.BlockBytes, min(int64(t.last)*input.BlockBytes, t.file.textSize)
	begins := from == 0 // a line begins at from; elsewhere the byte before decides
	if !begins {
		if _, err := r.ReadAt(buf[:1], from-1); err != nil {
			return t.file.readError(err)
		}
		begins = buf[0] == '\n'
	}
	c := lineCounter{stretch: t, config: &s.config, begins: begins, begin: from, from: from, to: to, lineFrom: from}
	for at := from; at < t.file.textSize && (at < to || c.pending()); {
		p := buf[:min(int64(len(buf)), t.file.textSize-at)]
		if n, err := r.ReadAt(p, at); n < len(p) {
			return t.file.readError(err)
		}
		if at < to {
			c.block(at)
		}
		c.count(p, at)
		at += int64(len(p))
		if at-c.lineFrom > MaxLine {
			t.long = c.lineFrom
			return nil
		}
	}
	return nil
}

// lineCounter goes through the bytes of a stretch.
type lineCounter struct {
	*stretch
	config   *Config
	from, to int64

	begins   bool  // only blanks of the current line have been read
	begin    int64 // offset of that line
	lineFrom int64 // offset of the current line, or of the stretch if the line began before it
}

// pending reports whether the last line that begins in the stretch has only blanks so far.
func (c *lineCounter) pending() bool { return c.begins && c.begin < c.to }

// block stores the state of the count at the beginning of a block.
func (c *lineCounter) block(at int64) {
	if c.config.Quote != 0 {
		c.states[(at-c.from)/input.BlockBytes] = c.odd
	}
}

// count goes through p, which lies at offset at. Bytes behind the stretch are read only to
// learn whether its last line holds more than blanks.
func (c *lineCounter) count(p []byte, at int64) {
	i := 0
	if at == 0 {
		i = markLength(p)
	}
	for i < len(p) {
		if c.begins {
			for i < len(p) && c.config.blank(p[i]) {
				i++
			}
			switch {
			case i == len(p):
				return
			case p[i] != '\n':
				c.begins = false
				if c.begin >= c.to {
					return
				}
				if p[i] != c.config.Comment || c.config.Comment == 0 {
					c.record()
				}
				if at >= c.to {
					return // the quotes here are those of the next stretch
				}
			}
		}
		end := bytes.IndexByte(p[i:], '\n')
		if c.config.Quote != 0 {
			within := p[i:]
			if end >= 0 {
				within = within[:end]
			}
			c.odd = c.odd != (bytes.Count(within, []byte{c.config.Quote})&1 == 1)
		}
		if end < 0 {
			return
		}
		i += end + 1
		c.lineEnd(at + int64(i))
	}
}

// record counts the line at c.begin.
func (c *lineCounter) record() {
	counts := c.counts
	if c.odd {
		counts = c.inside
	}
	counts[(c.begin-c.from)/input.BlockBytes]++
}

// lineEnd notes a line end, of which after is the offset behind it.
func (c *lineCounter) lineEnd(after int64) {
	c.begins, c.begin, c.lineFrom = true, after, after
	if after <= c.to {
		if c.firstEnd == 0 {
			c.firstEnd = after
		}
		c.lastEnd = after
	}
}

// markLength is the length of UTF-8's byte order mark if a file begins with one.
func markLength(file []byte) int {
	if bytes.HasPrefix(file, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}

// join makes one of the stretches of each file: which of the two counts of a stretch is
// right, and whether a line that goes through several is too long.
func (s *Set) join(all []*stretch) error {
	if err := s.joinLines(all); err != nil {
		return err
	}
	s.dropHeaders(s.counts)
	s.blocks = input.NewBlocks(s.counts)
	s.records = blockcache.NewRecords(s.loaded, s.blocks, touch)
	s.counts = nil // of s.blocks
	return nil
}

func (s *Set) joinLines(all []*stretch) error {
	var f *file
	var line int64 // where the line began that goes on
	odd := false
	for _, t := range all {
		if t.file != f {
			f, line, odd = t.file, 0, false
			f.quoted = nil
		}
		end := t.firstEnd
		if end == 0 {
			end = min(int64(t.last)*input.BlockBytes, f.textSize)
		}
		if t.long < 0 && end-line > MaxLine {
			t.long = line
		}
		if t.long >= 0 {
			return s.flaw(f, t.long, -1, fmt.Errorf("line is longer than %d bytes", MaxLine))
		}
		if t.lastEnd > 0 {
			line = t.lastEnd
		}
		if s.config.Quote == 0 {
			continue
		}
		for _, state := range t.states {
			f.quoted = append(f.quoted, state != odd)
		}
		if odd {
			copy(t.counts, t.inside)
		}
		odd = odd != t.odd
	}
	return nil
}

// dropHeaders takes the first record of each file out of the counts.
func (s *Set) dropHeaders(counts []uint16) {
	for _, f := range s.files {
		f.header = -1
		if !s.config.Header {
			continue
		}
		for b := range f.blocks() {
			if counts[f.first+b] > 0 {
				counts[f.first+b]--
				f.header = b
				break
			}
		}
	}
}

// lineAt returns the number, from 1, of the line at an offset, 0 if it cannot be read.
func lineAt(r io.ReaderAt, offset int64) int {
	buf := make([]byte, 1<<20)
	line := 1
	for at := int64(0); at < offset; {
		p := buf[:min(int64(len(buf)), offset-at)]
		if n, _ := r.ReadAt(p, at); n < len(p) {
			return 0
		}
		line += bytes.Count(p, []byte{'\n'})
		at += int64(len(p))
	}
	return line
}
