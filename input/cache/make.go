package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Config names the cache of files and says what its records must be.
type Config struct {
	Dir   string
	Files []string // the sources
	Key   string   // how their lines are parsed

	// Shape is that of each record. Cols -1: as many as the cache has features.
	Shape input.RecordShape

	Features int          // of all records; 0: as many as the cache says
	Labels   input.Labels // the valid labels

	// Learnt has the statistics of all records on which each depends, as JSON; nil: none. Make keeps
	// it in the cache.
	Learnt json.RawMessage
}

// Name returns the name of the cache. Files of other folders and other keys have other ones.
func (c Config) Name() string {
	h := sha256.New()
	for _, name := range c.Files {
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
		fmt.Fprintf(h, "%q\n", name)
	}
	fmt.Fprintf(h, "%q", c.Key)
	first := "none"
	if len(c.Files) > 0 {
		first = filepath.Base(c.Files[0])
	}
	return filepath.Join(c.Dir, fmt.Sprintf("%.100s-%x%s", first, h.Sum(nil)[:8], extension))
}

// Find opens the cache if it exists and fits. Otherwise s is nil, and why is the reason, or "" if
// no cache exists.
func Find(c Config) (s *Set, why string, err error) {
	s, err = open(c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, err.Error(), nil
	}
	if s.meta.Key != c.Key {
		why = "its records are parsed in another way"
	} else {
		why, err = s.meta.sameSources(c.Files)
	}
	if why != "" || err != nil {
		s.Close()
		return nil, why, err
	}
	return s, "", nil
}

// Text is the source of a cache's records.
type Text interface {
	input.Dataset // in blocks

	// AppendBlock adds the records of a block to b. In place of a bad record it adds an empty
	// one, and calls bad with the place in the block and the error.
	AppendBlock(b *input.Batch, block int, bad func(place int, err error)) error

	// FileRecords returns the number of records of each file.
	FileRecords() []int

	// Forget drops the blocks in memory: the records are read from the cache from now on.
	Forget()
}

// Make makes the cache c of the text t with the given number of goroutines. The file appears under
// its name when it is complete. When ctx ends, Make returns the cause.
//
// Codes: exitcode.CannotCreate, exitcode.IO, and those of t.
func Make(ctx context.Context, c Config, t Text, goroutines int) error {
	m := meta{Key: c.Key, Features: t.Facts().Features, Learnt: c.Learnt, HeldOut: t.Facts().Parts.HeldOut()}
	records := t.FileRecords()
	for i, name := range c.Files {
		info, err := os.Stat(name)
		if err != nil {
			return exitcode.With(exitcode.NoInput, err)
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		m.Sources = append(m.Sources, Source{path, info.Size(), info.ModTime().UnixNano(), records[i]})
	}
	header, err := encodeHeader(m)
	if err != nil {
		return err
	}
	if err := folder.Make(c.Dir); err != nil {
		return fmt.Errorf("input.cache: %w", err)
	}
	out, err := input.CreateRaw(c.Name(), true)
	if err != nil {
		return err
	}
	defer out.Close()
	w := &writer{out: out, text: t, blocks: t.Facts().Blocks}
	if err := w.write(header); err != nil {
		return err
	}
	if err := w.all(ctx, max(goroutines, 1)); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	return out.Commit()
}

// writer writes the blocks of a cache.
type writer struct {
	out    *input.Output
	text   Text
	blocks *input.Blocks
	at     int64
	index  []byte

	mu     sync.Mutex
	counts input.Counts
}

func (w *writer) write(p []byte) error {
	_, err := w.out.Write(p)
	w.at += int64(len(p))
	return err
}

// groupBlocks is how many blocks are encoded side by side and then written.
const groupBlocks = 64

// all writes the blocks, group after group.
func (w *writer) all(ctx context.Context, goroutines int) error {
	encoded := make([][]byte, groupBlocks)
	batches := make([]input.Batch, goroutines)
	for first := 0; first < w.blocks.Len(); first += groupBlocks {
		n := min(groupBlocks, w.blocks.Len()-first)
		err := input.SideBySide(ctx, n, goroutines, func(worker, i int) (err error) {
			encoded[i], err = w.encodeBlock(encoded[i][:0], &batches[worker], first+i)
			return err
		})
		if err != nil {
			return err
		}
		for i, p := range encoded[:n] {
			w.index = binary.LittleEndian.AppendUint64(w.index, uint64(w.at))
			w.index = binary.LittleEndian.AppendUint32(w.index, uint32(len(p)))
			w.index = binary.LittleEndian.AppendUint32(w.index, uint32(w.blocks.Count(first+i)))
			if err := w.write(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) encodeBlock(dst []byte, b *input.Batch, block int) ([]byte, error) {
	if w.blocks.Count(block) == 0 {
		return dst, nil
	}
	var bad []fault
	b.Reset()
	b.WantKeys = true
	err := w.text.AppendBlock(b, block, func(place int, err error) { bad = append(bad, fault{place, input.Lost(err), short(err)}) })
	if err != nil {
		return dst, err
	}
	w.mu.Lock()
	w.counts.Merge(&b.Columns)
	w.mu.Unlock()
	if dst = appendBlock(dst, b, bad); uint64(len(dst)) > math.MaxUint32 { // see the index
		return dst, fmt.Errorf("block %d has %d bytes, want at most %d", block, len(dst), uint32(math.MaxUint32))
	}
	return dst, nil
}

// short is what is wrong with a line, without its number, which takes long to find.
func short(err error) string {
	if e, ok := errors.AsType[interface {
		error
		Short() string
	}](err); ok {
		return e.Short()
	}
	return err.Error()
}

// end writes index, counts and footer.
func (w *writer) end() error {
	le := binary.LittleEndian
	footer := le.AppendUint64(nil, uint64(w.at))
	footer = le.AppendUint32(footer, uint32(len(w.index)/entryBytes))
	counts, err := json.Marshal(&w.counts)
	if err != nil {
		panic("cache: counts cannot be encoded")
	}
	w.index = append(w.index, counts...)
	footer = le.AppendUint32(footer, crc32.Checksum(w.index, castagnoli))
	if err := w.write(w.index); err != nil {
		return err
	}
	return w.write(append(footer, endMagic...))
}
