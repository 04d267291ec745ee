package bundle

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"ringtrain/input/maskedcrc"
)

// writeBuffer is the size of one write to the disk.
const writeBuffer = 1 << 20

// Write writes a bundle of one shard: first prefix.data-00000-of-00001, then
// prefix.index. It syncs both files; the caller syncs the folder. It returns the total
// size. The bytes equal those of TensorFlow's SaveV2 for the same tensors: sorted by
// name, no padding, an uncompressed index.
//
// An error carries the exit code of [Fault], and parts of the files may exist. Write
// panics if two tensors have the same name, if a tensor has no name, or if its data
// differ from its type and shape.
func Write(fs FS, prefix string, tensors []Tensor) (bytes int64, err error) {
	sorted := slices.Clone(tensors)
	slices.SortFunc(sorted, func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	for i, t := range sorted {
		t.check()
		if i > 0 && t.Name == sorted[i-1].Name {
			panic("bundle: two tensors have the same name")
		}
	}
	entries, bytes, err := writeShard(fs, shardName(prefix, 0, 1), sorted)
	if err != nil {
		return 0, Fault(err)
	}
	index := encodeIndex(1, entries)
	if err := WriteFile(fs, indexName(prefix), index); err != nil {
		return 0, Fault(err)
	}
	return bytes + int64(len(index)), nil
}

func indexName(prefix string) string { return prefix + ".index" }

func shardName(prefix string, shard, shards int) string {
	return fmt.Sprintf("%s.data-%05d-of-%05d", prefix, shard, shards)
}

func writeShard(fs FS, name string, tensors []Tensor) (entries []Entry, bytes int64, err error) {
	f, err := fs.Create(name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, writeBuffer)
	for _, t := range tensors {
		e := Entry{Name: t.Name, DType: t.DType, Shape: t.Shape, Offset: bytes}
		if e.Size, e.CRC, err = writeTensor(w, t); err != nil {
			return nil, 0, err
		}
		bytes += e.Size
		entries = append(entries, e)
	}
	if err := w.Flush(); err != nil {
		return nil, 0, err
	}
	return entries, bytes, f.Sync()
}

// writeTensor returns the number of bytes written and their masked checksum.
func writeTensor(w *bufio.Writer, t Tensor) (size int64, crc uint32, err error) {
	if t.DType != DTString {
		_, err = w.Write(t.Data)
		return int64(len(t.Data)), maskedcrc.Of(t.Data), err
	}
	lengths, crc := appendLengths(nil, t.Strings)
	if _, err := w.Write(lengths); err != nil {
		return 0, 0, err
	}
	size = int64(len(lengths))
	for _, s := range t.Strings {
		if _, err := io.WriteString(w, s); err != nil {
			return 0, 0, err
		}
		crc = crc32.Update(crc, castagnoli, []byte(s))
		size += int64(len(s))
	}
	return size, maskedcrc.Mask(crc), nil
}

// encodeIndex returns the index of a bundle whose entries are sorted by name.
func encodeIndex(shards int, entries []Entry) []byte {
	t := newTableWriter()
	t.add("", appendHeader(nil, shards))
	for _, e := range entries {
		t.add(e.Name, e.appendTo(nil))
	}
	return t.finish()
}
