package text

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
)

// MaxLine bounds the length of a line in bytes.
const MaxLine = 64 << 20

// stretchBlocks is the number of blocks that one goroutine counts at a time.
const stretchBlocks = 64

// stretch is a run of blocks of one file.
//
// With quotes nobody knows, before the blocks before it are counted, in which place of a line a
// stretch begins. So it is counted for each place.
type stretch struct {
	file        *file
	first, last int     // blocks of the file
	tallies     []tally // of each place that it may begin in; one without quotes
}

// tally is what a stretch has if it begins in one place.
type tally struct {
	counts []uint16 // of each block
	places []place  // of the beginning of each block; nil without quotes
	end    place

	firstEnd, lastEnd int64 // offsets behind its first and its last line end; 0: it has none
	long              int64 // offset of a line that is too long, or −1
}

// count counts the records of all files, each record in the block that its line begins in.
// It also finds lines that are too long. With Config.Share it may count the first blocks only.
func (s *Set) count(ctx context.Context) error {
	if s.config.Share && !s.packed() && s.facts.IsShared() {
		if heads := s.heads(); s.countAll(ctx, heads) == nil && allHold(heads) {
			if err := s.join(heads, s); err != nil || s.facts.Records > 0 { // a header alone is no record
				return err
			}
		}
	}
	all := s.stretches()
	if err := s.countAll(ctx, all); err != nil {
		return err
	}
	return s.join(all, nil)
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
	t := &stretch{file: f, first: first, last: last}
	t.tallies = []tally{{counts: counts[f.first+first : f.first+last], long: -1}}
	if s.config.Quote != 0 {
		for len(t.tallies) < int(places) {
			t.tallies = append(t.tallies, tally{counts: make([]uint16, last-first), long: -1})
		}
		for i := range t.tallies {
			t.tallies[i].places = make([]place, last-first)
		}
	}
	return t
}

// countAll counts stretches side by side.
func (s *Set) countAll(ctx context.Context, all []*stretch) error {
	buf := make([]byte, s.goroutines()*input.BlockBytes)
	return input.SideBySide(ctx, len(all), s.goroutines(), func(worker, i int) error {
		return s.countStretch(all[i], buf[worker*input.BlockBytes:][:input.BlockBytes])
	})
}

// countStretch counts one stretch. buf has the length of a block.
func (s *Set) countStretch(t *stretch, buf []byte) error {
	r, err := t.file.open()
	if err != nil {
		return err
	}
	defer t.file.release(r)
	from, to := int64(t.first)*input.BlockBytes, min(int64(t.last)*input.BlockBytes, t.file.textSize)
	before := []byte{'\n'}
	if from > 0 {
		if _, err := r.ReadAt(before, from-1); err != nil {
			return t.file.readError(err)
		}
	}
	var known *lineCounter
	for i := range t.tallies {
		c := &lineCounter{tally: &t.tallies[i], config: &s.config, from: from, to: to, at: place(i), begin: from, lineFrom: from}
		c.begins = before[0] == '\n' && c.at == fieldStart
		if err := c.run(t.file, r, buf, known); err != nil {
			return err
		}
		if known == nil {
			known = c
		}
	}
	return nil
}

// lineCounter goes through the bytes of a stretch.
type lineCounter struct {
	*tally
	config   *Config
	from, to int64

	at       place
	begins   bool  // only blanks of the current line have been read
	begin    int64 // offset of that line
	lineFrom int64 // offset of the current line, or of the stretch if the line began before it
	quotes   bool  // there is one
}

// run counts. known has counted the stretch from another place. Where both come to one place,
// the rest is the same.
func (c *lineCounter) run(f *file, r io.ReaderAt, buf []byte, known *lineCounter) error {
	at := c.from
	c.end = c.at
	if c.at == inQuotes && !known.quotes {
		for b := range c.places {
			c.places[b] = inQuotes
		}
		return nil
	}
	for at < f.textSize && (at < c.to || c.begins && c.begin < c.to) { // the last line of the stretch may have only blanks so far
		if at < c.to && c.block(int((at-c.from)/input.BlockBytes), known) {
			return nil
		}
		p := buf[:min(int64(len(buf)), f.textSize-at)]
		if n, err := r.ReadAt(p, at); n < len(p) {
			return f.readError(err)
		}
		c.count(p, at)
		if at += int64(len(p)); at <= c.to {
			c.end = c.at
		}
		if at-c.lineFrom > MaxLine {
			c.long = c.lineFrom
			return nil
		}
	}
	return nil
}

// block notes the place of the beginning of block b. It reports whether known was there, too, and
// then takes the rest from it.
func (c *lineCounter) block(b int, known *lineCounter) bool {
	if c.config.Quote == 0 {
		return false
	}
	c.places[b] = c.at
	if c.begins {
		c.places[b] |= fresh
	}
	if known == nil || c.begins || known.places[b] != c.at || c.firstEnd == 0 {
		return false
	}
	copy(c.counts[b:], known.counts[b:])
	copy(c.places[b:], known.places[b:])
	c.end, c.long, c.lastEnd = known.end, known.long, max(c.lastEnd, known.lastEnd)
	return true
}

// count goes through p, which lies at offset at. Bytes behind the stretch are read only to
// learn whether its last line holds more than blanks.
func (c *lineCounter) count(p []byte, at int64) {
	q, i := c.config.quoting(p), 0
	c.quotes = c.quotes || q.Quote != 0 && at < c.to
	if at == 0 {
		i = markLength(p)
	}
	for i < len(p) {
		if c.begins {
			first := i
			for i < len(p) && c.config.blank(p[i]) {
				i++
			}
			if i > first && !c.config.Trim {
				c.at = inField
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
					c.counts[(c.begin-c.from)/input.BlockBytes]++
				}
				if at >= c.to {
					return // the quotes here are those of the next stretch
				}
			}
		}
		n, after, ended := q.line(p[i:], c.at)
		i, c.at = i+n, after
		if ended {
			c.lineEnd(at + int64(i))
		}
	}
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

// join makes one of the stretches of each file: which of the tallies of a stretch is
// right, and whether a line that goes through several is too long. The Set has all records then, or
// as many as all has until counting has counted the others.
func (s *Set) join(all []*stretch, counting input.Counting) error {
	if err := s.joinLines(all); err != nil {
		return err
	}
	s.dropHeaders(s.counts)
	s.blocks = input.NewBlocks(s.counts)
	s.records = blockcache.NewRecords(s.loaded, s.blocks, touch)
	s.counts = nil // of s.blocks
	if counting == nil {
		s.facts.Parts = s.config.Split.Parts(s.blocks.Records())
	}
	s.facts.Blocks, s.facts.Records, s.facts.Counting, s.facts.Manifest = s.blocks, s.blocks.Records(), counting, nil
	for i, records := range s.FileRecords() {
		line := fmt.Sprintf("%s %d", input.ManifestName(s.files[i].Name), s.files[i].Size)
		if counting == nil {
			line = fmt.Sprintf("%s %d", line, records)
		}
		s.facts.Manifest = append(s.facts.Manifest, line)
	}
	return nil
}

func (s *Set) joinLines(all []*stretch) error {
	var f *file
	var line int64 // where the line began that goes on
	at := fieldStart
	for _, t := range all {
		if t.file != f {
			f, line, at = t.file, 0, fieldStart
			f.places = nil
		}
		y := &t.tallies[min(int(at), len(t.tallies)-1)]
		end := y.firstEnd
		if end == 0 {
			end = min(int64(t.last)*input.BlockBytes, f.textSize)
		}
		if y.long < 0 && end-line > MaxLine {
			y.long = line
		}
		if y.long >= 0 {
			return s.tooLong(f, y.long)
		}
		if y.lastEnd > 0 {
			line = y.lastEnd
		}
		f.places = append(f.places, y.places...)
		copy(t.tallies[0].counts, y.counts)
		at = y.end
	}
	return nil
}

// tooLong is the error of a line that begins at an offset.
func (s *Set) tooLong(f *file, offset int64) error {
	err := fmt.Errorf("line is longer than %d bytes", MaxLine)
	if s.config.Quote != 0 {
		err = fmt.Errorf("%w: a quote in it may not be closed", err)
	}
	return s.flaw(f, offset, -1, err)
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
