package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"
	"sync"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
	"ringtrain/ring/exitcode"
)

// Config describes the lines of files.
type Config struct {
	Format    string // begins the messages about lines
	Comment   byte   // begins lines without a record; 0: none
	Quote     byte   // encloses fields that may hold line ends, see Quoting; 0: none does
	Separator byte   // of fields, which a line may have without a word; 0: a line of blanks holds no record
	Trim      bool   // see Quoting
	Header    bool   // the first record of each file is none

	// Parse adds the record of a line of a file, given by number, to b, as Dataset.Append does. The line ends with \n,
	// and Pad bytes may be read behind it. Parse is called from several goroutines.
	Parse func(b *input.Batch, line []byte, file int) error

	// Paths are the files that have the text of files which are compressed; nil: the files
	// themselves.
	Paths []string

	// Of EachPart alone: Pipe gives the text of the one file; Head is called with the header of each file before
	// its records are. nil: there is none.
	Pipe io.Reader
	Head func(file string, line []byte) error

	Share    bool         // leave large plain text to be counted: see input.Counting
	Split    input.Split  // parts of the records; if cells say them, Set.Sort finds them
	Limits   input.Limits // of compressed files
	Features int          // see input.Facts; SetFeatures may change it
}

// blank reports whether c may stand in a line without a record.
func (c *Config) blank(b byte) bool {
	return (b == ' ' || b == '\t' || b == '\r') && b != c.Separator
}

// quoting returns how lines are quoted that lie in p: without a quote if p has none.
func (c *Config) quoting(p []byte) Quoting {
	q := Quoting{c.Quote, c.Separator, c.Trim}
	if q.Quote != 0 && bytes.IndexByte(p, q.Quote) < 0 {
		q.Quote = 0
	}
	return q
}

// path returns where the text of file i is.
func (c Config) path(i int, name string) string {
	if c.Paths == nil {
		return name
	}
	return c.Paths[i]
}

// Set is the records of text files. It is an input.Dataset, and an input.Counting.
type Set struct {
	config  Config
	files   []*file
	counts  []uint16 // of each block, before it is part of blocks
	blocks  *input.Blocks
	loaded  *blockcache.Cache[lines]
	records *blockcache.Records[lines]
	facts   input.Facts
	joined  bool // other processes counted some of the blocks

	learn sync.Once
	shape input.RecordShape
}

// maxWindows bounds the windows of blocks in memory: the current one and the one before, of which
// a batch may still need records.
const maxWindows = 2

// Open opens files and counts their records. With Config.Share the Set may have uncounted
// records: see input.Counting. When ctx ends, Open returns the cause, and so does a later read of
// compressed text.
//
// Codes of its errors: exitcode.NoInput, exitcode.IO, and exitcode.BadData for a line that is
// longer than MaxLine and a file that changes.
func Open(ctx context.Context, files []string, c Config) (*Set, error) {
	s := &Set{config: c, facts: input.Facts{Features: c.Features}}
	s.facts.Place = s.place
	s.loaded = blockcache.New(maxWindows*input.WindowBlocks*input.BlockBytes, s.load)
	for i, name := range files {
		f, err := openFile(ctx, name, c.path(i, name), c.Limits, i < mostOpen)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files = append(s.files, f)
		s.facts.Bytes += f.Size
		s.facts.Sequential = s.facts.Sequential || f.stream != nil // is read in its order
	}
	if err := s.count(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if !s.facts.Sequential { // a stream goes back to a block from its beginning only
		s.loaded.EvictStale()
	}
	return s, nil
}

// packed reports whether a file is compressed.
func (s *Set) packed() bool {
	return slices.ContainsFunc(s.files, func(f *file) bool { return f.held != nil || f.stream != nil })
}

// goroutines is how many read side by side.
func (s *Set) goroutines() int {
	if s.facts.Sequential {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// Facts returns what is known of the records. Their number may be that of the first blocks only: see
// input.Counting.
func (s *Set) Facts() input.Facts { return s.facts }

// SetFeatures stores the number of features, which a format knows when it has read the records.
func (s *Set) SetFeatures(n int) { s.facts.Features = n }

// Forget drops the blocks in memory. They are read again when they are needed.
func (s *Set) Forget() { s.loaded.Purge() }

// Close closes the files.
func (s *Set) Close() error {
	var faults []error
	for _, f := range s.files {
		faults = append(faults, f.close())
	}
	return errors.Join(faults...)
}

// parse adds the record of line k of a block to b.
func (s *Set) parse(b *input.Batch, block *lines, k int) error {
	line, err := block.text(k)
	if err != nil {
		return err
	}
	return s.config.Parse(b, line, block.file)
}

// lineError is the error of the line of a record.
func (s *Set) lineError(at blockcache.Location, block *lines, err error) error {
	f := s.fileOf(at.Block)
	return s.flaw(f, block.offset(at.Place), at.Record-s.blocks.First(f.first), err)
}

// place names the file and the line of a record.
func (s *Set) place(record int) string {
	err := s.records.Each([]int{record}, func(at blockcache.Location, block *lines) error { return s.lineError(at, block, nil) })
	if e, ok := errors.AsType[*LineError](err); ok {
		return e.place()
	}
	return ""
}

// fileOf returns the file of a block.
func (s *Set) fileOf(block int) *file { return s.files[s.FileOf(block)] }

// FileOf returns the number of the file of a block.
func (s *Set) FileOf(block int) int {
	return sort.Search(len(s.files), func(i int) bool { return s.files[i].first > block }) - 1
}

// LineError is the error of a line.
type LineError struct {
	Format string
	File   string
	Record int   // of the file, from 0; −1: unknown
	Offset int64 // of the line, in bytes
	Err    error
	line   func() int
}

// Short is Error without the line, and reads nothing.
func (e *LineError) Short() string {
	return fmt.Sprintf("%s: %s: record %d at byte %d: %v", e.Format, e.File, e.Record, e.Offset, e.Err)
}

// Error names file, line, record and offset. It reads the file up to the line, to count the
// lines.
func (e *LineError) Error() string {
	place := fmt.Sprintf("%s: %s", e.Format, e.place())
	if e.Record >= 0 {
		place = fmt.Sprintf("%s: record %d", place, e.Record)
		return fmt.Sprintf("%s at byte %d: %v", place, e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: byte %d: %v", place, e.Offset, e.Err)
}

// place names the file, and the line if it can be counted.
func (e *LineError) place() string {
	if n := e.line(); n > 0 {
		return fmt.Sprintf("%s:%d", e.File, n)
	}
	return e.File
}

func (e *LineError) Unwrap() error { return e.Err }

// flaw is an error in the line at an offset of a file.
func (s *Set) flaw(f *file, offset int64, record int, err error) error {
	line := func() int {
		if f.held != nil {
			return lineAt(f.held, offset)
		}
		if f.stream != nil {
			return 0
		}
		r, _, err := input.OpenRaw(f.Path) // the Set may be closed
		if err != nil {
			return 0
		}
		defer r.Close()
		return lineAt(r, offset)
	}
	return exitcode.With(exitcode.BadData, &LineError{s.config.Format, f.Name, record, offset, err, line})
}
