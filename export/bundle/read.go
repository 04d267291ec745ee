package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"ringtrain/input/maskedcrc"
	"ringtrain/ring/exitcode"
)

// Reader reads an open bundle. Several goroutines may call its methods, except Close.
// The Reader still works after the bundle was removed or replaced.
type Reader struct {
	prefix  string
	shards  []shard // open only if the shard holds a tensor
	entries []Entry // sorted by name
	mapping sync.Mutex
}

type shard struct {
	file   *os.File
	size   int64
	mapped []byte // the file; nil until a tensor is mapped
}

// Open reads and checks the index of a bundle and opens its data files. The error has
// [exitcode.NoInput] if there is no bundle, and [exitcode.BadData] if the bundle is
// damaged or of an unsupported kind.
func Open(prefix string) (*Reader, error) {
	r := &Reader{prefix: prefix}
	index, err := readIndex(prefix)
	if err == nil {
		err = r.parse(index)
	}
	if err == nil {
		err = r.openShards()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func readIndex(prefix string) ([]byte, error) {
	name := indexName(prefix)
	data, err := ReadFile(name)
	if keras := KerasFile(prefix); errors.Is(err, fs.ErrNotExist) && keras != nil {
		return nil, keras
	}
	if errors.Is(err, fs.ErrNotExist) && isV1(prefix) {
		return nil, bad("bundle: %s is a checkpoint of TensorFlow's old V1 format, want V2 (with %s)", prefix, name)
	}
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("bundle: %w", err))
	}
	return data, nil
}

// maxFile bounds a file that is read as a whole.
const maxFile = 1 << 30

// OpenFile opens a file of a bundle. A pipe or a device, which may never answer, is an error.
func OpenFile(name string) (*os.File, error) {
	if _, err := regularSize(name); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// ReadFile returns the content of a file of a bundle, which OpenFile could open and which has at most 1 GiB.
func ReadFile(name string) ([]byte, error) {
	size, err := regularSize(name)
	if err != nil {
		return nil, err
	}
	if size > maxFile {
		return nil, bad("%s has %d bytes, want at most %d", name, size, maxFile)
	}
	return os.ReadFile(name)
}

// regularSize returns the bytes of a file. The error has [exitcode.BadData] if it is something else than a file.
func regularSize(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, bad("%s is not a file", name)
	}
	return info.Size(), nil
}

// isV1 reports whether a V1 checkpoint, one file or several, has this prefix.
func isV1(prefix string) bool {
	info, err := os.Stat(prefix)
	if err == nil {
		return info.Mode().IsRegular()
	}
	siblings, err := os.ReadDir(filepath.Dir(prefix))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(siblings, func(e fs.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(prefix)+"-")
		return ok && len(rest) == len("00000-of-00001") && rest[5:9] == "-of-"
	})
}

func bad(format string, args ...any) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf(format, args...))
}

func (r *Reader) parse(index []byte) error {
	shards, names := -1, 0
	err := eachEntry(index, func(key string, value []byte) error {
		// Names share prefixes, so a small index can hold names of any total length.
		if names += len(key); names > max(freeNames, nameRatio*len(index)) {
			return fmt.Errorf("names have more than %d bytes, want at most %d for an index of %d", names-len(key), max(freeNames, nameRatio*len(index)), len(index))
		}
		if shards < 0 {
			if key != "" {
				return errors.New("the header is missing")
			}
			var err error
			shards, err = parseHeader(value)
			return err
		}
		if key[0] == 0 {
			return errors.New("partitioned tensors (slices) are not supported")
		}
		e, err := parseEntry(key, value)
		if err == nil && e.Shard >= shards {
			err = fmt.Errorf("in shard %d of %d", e.Shard, shards)
		}
		if err != nil {
			return fmt.Errorf("tensor %q: %w", key, err)
		}
		r.entries = append(r.entries, e)
		return nil
	})
	if err == nil && shards < 0 {
		err = errors.New("the header is missing")
	}
	if err != nil {
		return bad("bundle: %s: %w", indexName(r.prefix), err)
	}
	r.shards = make([]shard, shards)
	return nil
}

// Limits on the names of an index: they may take the larger of freeNames bytes and
// nameRatio bytes for each byte of the index.
const (
	freeNames = 1 << 20
	nameRatio = 64
)

// openShards opens the data files. It checks that each file holds the tensors of the
// index and that no two tensors overlap: otherwise a small file could expand to many
// large tensors.
func (r *Reader) openShards() error {
	for _, e := range r.entries {
		s := &r.shards[e.Shard]
		if s.file == nil {
			f, err := OpenFile(r.shardName(e))
			if err != nil {
				return bad("bundle: tensor %s: %w", e.Name, err)
			}
			s.file = f
			info, err := f.Stat()
			if err != nil {
				return bad("bundle: tensor %s: %w", e.Name, err)
			}
			s.size = info.Size()
		}
		if e.Offset > s.size || e.Size > s.size-e.Offset {
			return bad("bundle: %s: tensor %s has %d bytes at byte %d, the file has only %d",
				r.shardName(e), e.Name, e.Size, e.Offset, s.size)
		}
	}
	return r.checkOverlap()
}

// checkOverlap returns an error if two tensors share a byte.
func (r *Reader) checkOverlap() error {
	places := slices.DeleteFunc(slices.Clone(r.entries), func(e Entry) bool { return e.Size == 0 })
	slices.SortFunc(places, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	})
	for i := 1; i < len(places); i++ {
		if a, b := places[i-1], places[i]; a.Shard == b.Shard && b.Offset < a.Offset+a.Size {
			return bad("bundle: %s: tensor %s at byte %d overlaps %s, which has %d from byte %d on",
				r.shardName(b), b.Name, b.Offset, a.Name, a.Size, a.Offset)
		}
	}
	return nil
}

func (r *Reader) shardName(e Entry) string { return shardName(r.prefix, e.Shard, len(r.shards)) }

// Entries returns the entries of the bundle, sorted by name. The Reader owns the slice.
func (r *Reader) Entries() []Entry { return r.entries }

// Read returns a tensor. It verifies the checksum first.
func (r *Reader) Read(name string) (Tensor, error) {
	e, err := r.entry(name)
	if err != nil {
		return Tensor{}, err
	}
	return r.read(e)
}

func (r *Reader) entry(name string) (Entry, error) {
	i, ok := slices.BinarySearchFunc(r.entries, name, func(e Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !ok {
		return Entry{}, bad("bundle: %s: no tensor %s", r.prefix, name)
	}
	return r.entries[i], nil
}

// ReadAll returns all tensors, sorted by name.
func (r *Reader) ReadAll() ([]Tensor, error) {
	tensors := make([]Tensor, 0, len(r.entries))
	for _, e := range r.entries {
		t, err := r.read(e)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, t)
	}
	return tensors, nil
}

func (r *Reader) read(e Entry) (Tensor, error) {
	data := make([]byte, e.Size)
	if _, err := r.shards[e.Shard].file.ReadAt(data, e.Offset); err != nil {
		return Tensor{}, r.damaged(e, err)
	}
	return r.verified(e, data)
}

// verified returns the tensor that data holds. Data of the tensor is a view of data.
func (r *Reader) verified(e Entry, data []byte) (Tensor, error) {
	t := Tensor{Name: e.Name, DType: e.DType, Shape: slices.Clone(e.Shape)}
	crc := checksum(data)
	if e.DType == DTString {
		n, _ := elements(e.Shape)
		var err error
		if t.Strings, crc, err = parseStrings(data, n); err != nil {
			return Tensor{}, r.damaged(e, err)
		}
	} else {
		t.Data = data
	}
	if maskedcrc.Mask(crc) != e.CRC {
		return t, r.damaged(e, fmt.Errorf("crc32c is %#08x, want %#08x", crc, maskedcrc.Unmask(e.CRC)))
	}
	return t, nil
}

// checksum returns the CRC-32C of data. The collector and other goroutines wait for a kernel to return, so
// that it takes a piece at a time.
func checksum(data []byte) (crc uint32) {
	for piece := range slices.Chunk(data, 64<<10) {
		crc = crc32.Update(crc, castagnoli, piece)
	}
	return crc
}

func (r *Reader) damaged(e Entry, err error) error {
	return bad("bundle: %s: tensor %s at byte %d: %w", r.shardName(e), e.Name, e.Offset, err)
}

// Close closes the data files. Tensors of [Reader.Map] are no longer valid.
func (r *Reader) Close() error {
	var errs []error
	for _, s := range r.shards {
		if s.mapped != nil {
			errs = append(errs, syscall.Munmap(s.mapped))
		}
		if s.file != nil {
			errs = append(errs, s.file.Close())
		}
	}
	return errors.Join(errs...)
}
