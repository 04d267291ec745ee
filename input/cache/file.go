package cache

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
	"ringtrain/ring/exitcode"
)

const (
	magic       = "rtcache\n"
	endMagic    = "rtcache."
	version     = 3
	headerBytes = 24
	entryBytes  = 16
	footerBytes = 24
	maxMeta     = 1 << 30 // vocabularies are in it
)

// meta describes a cache.
type meta struct {
	Key      string   `json:"key"`
	Sources  []Source `json:"sources"`
	Features int      `json:"features"`

	// Learnt has the statistics that the text's reader collected, in its own form.
	Learnt json.RawMessage `json:"learnt,omitempty"`

	HeldOut *input.HeldOut `json:"held_out,omitempty"`
}

// Source is a file that a cache was made of.
type Source struct {
	Path    string `json:"path"`  // absolute
	Bytes   int64  `json:"bytes"` // on disk
	Time    int64  `json:"time"`  // of the last change, in nanoseconds since 1970
	Records int    `json:"records"`
}

// entry locates a block.
type entry struct {
	offset  int64
	length  uint32
	records uint32
}

// Set is the records of a cache. It is an input.Dataset.
type Set struct {
	name    string
	file    content
	meta    meta
	facts   input.Facts
	shape   input.RecordShape // of each record
	labels  input.Labels
	entries []entry
	blocks  *input.Blocks
	loaded  *blockcache.Cache[block]
	records *blockcache.Records[block]
}

// maxBytes bounds the blocks in memory: two windows. A parsed block is shorter than its text.
const maxBytes = 2 * input.WindowBlocks * input.BlockBytes

// openFile opens a file of a folder that others may write to. A FIFO is not waited for.
func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// open opens a cache. An error says why the file is not the cache of c.
func open(c Config) (*Set, error) {
	file, err := openFile(c.Name())
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s, err := newSet(c, file, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s.facts.InMemory = resident(file, info.Size()) // a block is then copied, and read from no disk
	return s, nil
}

// content is the source of a cache's bytes.
type content interface {
	io.ReaderAt
	io.Closer
}

func newSet(c Config, file content, size int64) (*Set, error) {
	s := &Set{name: c.Name(), file: file, shape: c.Shape, labels: c.Labels}
	if err := s.read(size); err != nil {
		return nil, err
	}
	if c.Features > 0 && s.meta.Features != c.Features {
		return nil, fmt.Errorf("it has %d features, want %d", s.meta.Features, c.Features)
	}
	if s.shape.Cols < 0 {
		s.shape.Cols = s.meta.Features
	}
	s.loaded = blockcache.New(maxBytes, s.load)
	s.loaded.EvictStale()
	s.records = blockcache.NewRecords(s.loaded, s.blocks, touch)
	s.facts.Records, s.facts.Features, s.facts.Blocks = s.blocks.Records(), s.meta.Features, s.blocks
	if held := s.meta.HeldOut; held != nil {
		var err error
		if s.facts.Parts, err = held.Parts(s.facts.Records); err != nil {
			return nil, err
		}
	}
	for i, f := range s.meta.Sources {
		name := f.Path
		if i < len(c.Files) {
			name = c.Files[i] // as a reader of the files has it
		}
		s.facts.Bytes += f.Bytes
		s.facts.Manifest = append(s.facts.Manifest, fmt.Sprintf("%s %d %d", input.ManifestName(name), f.Bytes, f.Records))
	}
	return s, nil
}

// read reads header, meta, footer and index of a file of size bytes.
func (s *Set) read(size int64) error {
	if err := s.readMeta(size); err != nil {
		return err
	}
	le := binary.LittleEndian
	footer := make([]byte, footerBytes)
	if size < headerBytes+footerBytes {
		return errors.New("it ends early")
	}
	if err := s.readAt(footer, size-footerBytes); err != nil {
		return err
	}
	at, blocks := le.Uint64(footer), int64(le.Uint32(footer[8:]))
	if string(footer[16:]) != endMagic || at > uint64(size) || int64(at)+blocks*entryBytes > size-footerBytes {
		return errors.New("it has no index at its end")
	}
	index := make([]byte, size-footerBytes-int64(at))
	if err := s.readAt(index, int64(at)); err != nil {
		return err
	}
	if crc32.Checksum(index, castagnoli) != le.Uint32(footer[12:]) {
		return errors.New("crc32c of its index is wrong")
	}
	s.facts.Counts = new(input.Counts)
	if err := json.Unmarshal(index[blocks*entryBytes:], s.facts.Counts); err != nil {
		return fmt.Errorf("its counts: %w", err)
	}
	return s.takeIndex(index[:blocks*entryBytes], int64(at))
}

// readMeta reads the header and the description, which precede the blocks.
func (s *Set) readMeta(size int64) error {
	le := binary.LittleEndian
	head := make([]byte, headerBytes)
	if err := s.readAt(head, 0); err != nil {
		return err
	}
	if string(head[:8]) != magic {
		return errors.New("it is no cache")
	}
	if v := le.Uint32(head[8:]); v != version {
		return fmt.Errorf("it has version %d, want %d", v, version)
	}
	n := int64(le.Uint32(head[12:]))
	if n > maxMeta || n > size-headerBytes {
		return fmt.Errorf("its description has %d bytes", n)
	}
	text := make([]byte, n)
	if err := s.readAt(text, headerBytes); err != nil {
		return err
	}
	if crc32.Checksum(text, castagnoli) != le.Uint32(head[16:]) {
		return errors.New("crc32c of its description is wrong")
	}
	if err := json.Unmarshal(text, &s.meta); err != nil {
		return fmt.Errorf("its description: %w", err)
	}
	if s.meta.Features < 0 || s.meta.Features > input.MaxFeatures {
		return fmt.Errorf("it has %d features", s.meta.Features)
	}
	return nil
}

// takeIndex checks the entries of the blocks, which end at an offset.
func (s *Set) takeIndex(index []byte, end int64) error {
	le := binary.LittleEndian
	counts := make([]uint16, 0, len(index)/entryBytes)
	at := int64(-1)
	for ; len(index) > 0; index = index[entryBytes:] {
		e := entry{int64(le.Uint64(index)), le.Uint32(index[8:]), le.Uint32(index[12:])}
		if at < 0 {
			at = e.offset
		}
		if e.offset != at || at < headerBytes || int64(e.length) > end-at || e.records > math.MaxUint16 || (e.length == 0) != (e.records == 0) {
			return fmt.Errorf("block %d lies at byte %d with %d bytes", len(counts), e.offset, e.length)
		}
		at += int64(e.length)
		s.entries, counts = append(s.entries, e), append(counts, uint16(e.records))
	}
	s.blocks = input.NewBlocks(counts)
	sum := 0
	for _, source := range s.meta.Sources {
		if source.Records < 0 || source.Records > s.blocks.Records()-sum {
			return fmt.Errorf("source %s has %d records", source.Path, source.Records)
		}
		sum += source.Records
	}
	if sum != s.blocks.Records() {
		return fmt.Errorf("its sources have %d records, and its blocks %d", sum, s.blocks.Records())
	}
	return nil
}

func (s *Set) readAt(p []byte, at int64) error {
	if n, err := s.file.ReadAt(p, at); n < len(p) {
		if err == io.EOF {
			err = errors.New("it ends early")
		}
		return err
	}
	return nil
}

// load reads a block.
func (s *Set) load(key int, b *block) (int64, error) {
	e := s.entries[key]
	b.data = slices.Grow(b.data[:0], int(e.length))[:e.length]
	err := s.readAt(b.data, e.offset)
	if err == nil {
		err = b.parse(int(e.records), s.shape, s.labels)
	}
	if err != nil {
		return 0, s.flaw(key, err)
	}
	return int64(cap(b.data)), nil
}

// flaw is the error of a damaged block.
func (s *Set) flaw(block int, err error) error {
	return exitcode.With(exitcode.BadData, input.WholeFile(fmt.Errorf("cache %s: block %d at byte %d: %w; remove the file, and it is made anew", s.name, block, s.entries[block].offset, err)))
}

// Name returns the name of the file.
func (s *Set) Name() string { return s.name }

// Facts returns what is known of the records: the manifest and the features are those of the text.
func (s *Set) Facts() input.Facts { return s.facts }

// Learnt returns the statistics that the text had when the cache was made, nil for none.
func (s *Set) Learnt() []byte { return s.meta.Learnt }

// Close closes the file.
func (s *Set) Close() error { return s.file.Close() }

// sameSources reports whether files are those that the cache was made of.
func (m *meta) sameSources(files []string) (string, error) {
	if len(files) != len(m.Sources) {
		return fmt.Sprintf("it is of %d files, and there are %d", len(m.Sources), len(files)), nil
	}
	for i, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		s := m.Sources[i]
		if filepath.Base(s.Path) != filepath.Base(name) || s.Bytes != info.Size() || s.Time != info.ModTime().UnixNano() {
			return fmt.Sprintf("%s has changed", name), nil
		}
	}
	return "", nil
}

// encodeHeader returns header and meta.
func encodeHeader(m meta) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		panic("cache: description cannot be encoded")
	}
	if len(text) > maxMeta {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("input.cache: the vocabularies have %d bytes, want at most %d in a cache", len(text), maxMeta))
	}
	var b bytes.Buffer
	b.WriteString(magic)
	for _, v := range []uint32{version, uint32(len(text)), crc32.Checksum(text, castagnoli), 0} {
		b.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
	b.Write(text)
	return b.Bytes(), nil
}
