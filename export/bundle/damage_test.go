package bundle

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"

	"ringtrain/input/maskedcrc"
	"ringtrain/ring/exitcode"
)

// wantBad fails t unless err is bad data that mentions want.
func wantBad(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v (exit code %d), want one with %q and exit code %d", err, exitcode.Of(err), want, exitcode.BadData)
	}
}

// TestDamage verifies that every flipped bit and every truncation of a bundle is an
// error, never a wrong value or a panic.
func TestDamage(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // thousands of writes: spare the disk
	}
	whole := []Tensor{Float32("a", []int{3}, []float32{1, 2, 3}), Int64("b", 7), String("c", "text")}
	prefix := write(t, whole)
	for _, name := range []string{indexName(prefix), shardName(prefix, 0, 1)} {
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		check := func(damaged []byte, what string, where int) {
			if err := os.WriteFile(name, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(prefix)
			if err == nil && !cmp.Equal(got, whole) {
				t.Errorf("%s %s at %d: read %v without an error", filepath.Base(name), what, where, got)
			}
			if err != nil && exitcode.Of(err) != exitcode.BadData {
				t.Errorf("%s %s at %d: exit code of %v is %d", filepath.Base(name), what, where, err, exitcode.Of(err))
			}
		}
		for i := range 8 * len(good) {
			damaged := []byte(string(good))
			damaged[i/8] ^= 1 << (i % 8)
			check(damaged, "bit flipped", i)
		}
		for i := range good {
			check(good[:i], "cut", i)
		}
		if err := os.WriteFile(name, good, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadAll verifies that ReadAll finds damage in numbers and in strings, and accepts a
// whole bundle.
func TestReadAll(t *testing.T) {
	prefix := write(t, []Tensor{Float32("a", []int{3}, []float32{1, 2, 3}), String("c", "text")})
	_, data := contents(t, prefix)
	for name, at := range map[string]int{"": -1, "tensor a at byte 0": 5, "tensor c at byte 12": len(data) - 1} {
		damaged := []byte(string(data))
		if at >= 0 {
			damaged[at] ^= 1
		}
		if err := os.WriteFile(shardName(prefix, 0, 1), damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(prefix)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.ReadAll(); at >= 0 {
			wantBad(t, err, name)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// index returns a table of raw entries.
func index(header []byte, entries ...any) []byte {
	w := newTableWriter()
	w.add("", header)
	for i := 0; i < len(entries); i += 2 {
		w.add(entries[i].(string), entries[i+1].([]byte))
	}
	return w.finish()
}

// Fields that ringtrain does not write.
const entrySlices, headerEndianness, versionMinConsumer, versionBadConsumer = 7, 2, 2, 3

// TestRefusals verifies that the error for each unreadable kind of bundle names the
// reason.
func TestRefusals(t *testing.T) {
	header := appendHeader(nil, 1)
	entry := func(e Entry) []byte { return e.appendTo(nil) }
	scalar := entry(Entry{DType: DTFloat32, Size: 4})
	tests := []struct {
		name  string
		index []byte
		want  string
	}{
		{"file=text", []byte(strings.Repeat("not a table\n", 10)), "not the index"},
		{"file=empty", nil, "not the index"},
		{"header=none", newTableWriter().finish(), "header is missing"},
		{"endian=big", index(appendVarint(appendHeader(nil, 1), headerEndianness, 1)), "big-endian"},
		{"version=newer", index([]byte{0x08, 1, 0x1a, 2, versionMinConsumer << 3, 2}), "version 2"},
		{"version=refused", index([]byte{0x08, 1, 0x1a, 2, versionBadConsumer << 3, 1}), "refuses readers of version 1"},
		{"version=refused, packed", index([]byte{0x08, 1, 0x1a, 4, versionBadConsumer<<3 | 2, 2, 7, 1}), "refuses readers of version 1"},
		{"slices=entry", index(header, "w", append(entry(Entry{DType: DTFloat32, Size: 4}), entrySlices<<3|2, 0)), "slices"},
		{"slices=key", index(header, "\x00w", scalar), "slices"},
		{"shards=too many", index(appendHeader(nil, maxShards+1)), "shards"},
		{"shard=1 of 1", index(header, "w", entry(Entry{DType: DTFloat32, Size: 4, Shard: 1})), "shard 1 of 1"},
		{"type=resource", index(header, "w", entry(Entry{DType: 20, Size: 4})), "type 20"},
		{"size=short", index(header, "w", entry(Entry{DType: DTFloat32, Shape: []int64{2}, Size: 4})), "want 8"},
		{"size=negative", index(header, "w", entry(Entry{DType: DTFloat32, Size: -4})), "negative"},
		{"shape=negative", index(header, "w", entry(Entry{DType: DTFloat32, Shape: []int64{-1}, Size: 4})), "dimension 0 is -1"},
		{"shape=overflow", index(header, "w", entry(Entry{DType: DTFloat32, Shape: []int64{1 << 40, 1 << 40}})), "too large"},
		{"strings=too many", index(header, "w", entry(Entry{DType: DTString, Shape: []int64{1 << 40}, Size: 9})), "strings"},
		{"offset=outside", index(header, "w", entry(Entry{DType: DTFloat32, Size: 4, Offset: 1 << 60})), "the file has only"},
		{"name=long", index(header, strings.Repeat("w", maxName+1), scalar), "bytes, want at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prefix := write(t, []Tensor{Float32("w", nil, []float32{1})})
			if err := os.WriteFile(indexName(prefix), tt.index, 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := readAll(prefix)
			wantBad(t, err, tt.want)
		})
	}
}

// TestSnappy verifies that a compressed block is read, and that a block with an
// impossible decompressed size is refused.
func TestSnappy(t *testing.T) {
	contents := snappy.Encode(nil, []byte(strings.Repeat("ringtrain ", 100)))
	framed := func(contents []byte) []byte {
		out := append([]byte(string(contents)), blockSnappy)
		return binary.LittleEndian.AppendUint32(out, maskedcrc.Of(out))
	}
	got, err := readBlock(framed(contents), handle{0, uint64(len(contents))})
	if err != nil || string(got) != strings.Repeat("ringtrain ", 100) {
		t.Errorf("block is %q, %v", got, err)
	}
	bomb := append([]byte{0x80, 0x80, 0x80, 0x80, 0x04}, 0)
	if _, err := readBlock(framed(bomb), handle{0, uint64(len(bomb))}); err == nil || !strings.Contains(err.Error(), "cannot decompress") {
		t.Errorf("a block of 6 bytes that claims 1 GiB: %v", err)
	}
}

// TestMissing verifies the errors for a bundle that is missing, incomplete or a V1
// checkpoint.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("no bundle: %v, exit code %d", err, exitcode.Of(err))
	}
	prefix := write(t, []Tensor{Int64("x", 1)})
	os.Remove(shardName(prefix, 0, 1))
	_, err := Open(prefix)
	wantBad(t, err, "data-00000-of-00001")
	for _, name := range []string{"old", "older-00000-of-00001"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(filepath.Join(dir, strings.TrimSuffix(name, "-00000-of-00001")))
		wantBad(t, err, "V1")
	}
	r, err := Open(write(t, []Tensor{Int64("x", 1)}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Read("y")
	wantBad(t, err, "no tensor y")
}

// FuzzIndex verifies that no index makes the reader panic, and that an accepted index is
// the same after a round trip.
func FuzzIndex(f *testing.F) {
	w := newTableWriter()
	w.add("", appendHeader(nil, 2))
	w.add("a", Entry{DType: DTFloat32, Shape: []int64{2, 3}, Size: 24, Shard: 1, CRC: 5}.appendTo(nil))
	w.add("ab", Entry{DType: DTString, Size: 9, CRC: 6}.appendTo(nil))
	f.Add(w.finish(), false)
	f.Add(index(appendHeader(nil, 1)), true)
	f.Fuzz(func(t *testing.T, table []byte, fix bool) {
		if fix {
			repair(table)
		}
		r := &Reader{prefix: "p"}
		if r.parse(table) != nil {
			return
		}
		again := &Reader{prefix: "p"}
		if err := again.parse(encodeIndex(len(r.shards), r.entries)); err != nil {
			t.Fatalf("cannot read what was accepted and written again: %v", err)
		}
		if diff := cmp.Diff(r.entries, again.entries); diff != "" {
			t.Errorf("the index came back different:\n%s", diff)
		}
	})
}

// repair corrects the checksums of a table's blocks, so that the fuzzer reaches the code
// behind them.
func repair(table []byte) {
	if len(table) < footerBytes {
		return
	}
	fix := func(h handle) []byte {
		n := uint64(len(table))
		if h.offset > n || h.size > n || h.offset+h.size+trailerBytes > n {
			return nil
		}
		b := table[h.offset : h.offset+h.size+trailerBytes]
		binary.LittleEndian.PutUint32(b[h.size+1:], maskedcrc.Of(b[:h.size+1]))
		return b[:h.size]
	}
	_, rest, err := parseHandle(table[len(table)-footerBytes:])
	if err != nil {
		return
	}
	h, _, err := parseHandle(rest)
	if err != nil {
		return
	}
	if block := fix(h); block != nil {
		_ = eachInBlock(block, 0, func(_ string, value []byte) error {
			h, _, err := parseHandle(value)
			fix(h)
			return err
		})
	}
}

// TestTensorOverlap verifies that tensors must not share bytes of the data file:
// otherwise a small bundle could expand to a GiB of memory.
func TestTensorOverlap(t *testing.T) {
	data := make([]byte, 1<<20)
	var entries []Entry
	for i := range 1000 {
		e := Entry{Name: fmt.Sprintf("t%04d", i), DType: DTFloat32, Shape: []int64{1 << 18}, Size: 1 << 20, CRC: maskedcrc.Of(data)}
		entries = append(entries, e)
	}
	_, err := Open(writtenBundle(t, encodeIndex(1, entries), data))
	refused(t, err, "overlaps")
}

// TestLongNames verifies that a small index cannot expand to very long names: an
// entry shares a prefix of its name with the previous entry.
func TestLongNames(t *testing.T) {
	w := newTableWriter()
	w.add("", appendHeader(nil, 1))
	w.data = newBlock(1 << 30) // without restarts
	w.data.add("", appendHeader(nil, 1))
	for i := range 20_000 {
		e := Entry{DType: DTFloat32, Shape: []int64{0}}
		w.data.add(fmt.Sprintf("%s%08d", strings.Repeat("x", 4000), i), e.appendTo(nil))
	}
	w.last = "y"
	index := w.finish()
	if len(index) > 1<<20 {
		t.Fatalf("the index has %d bytes, want few", len(index))
	}
	_, err := Open(writtenBundle(t, index, nil))
	refused(t, err, "names have more than")
}

func writtenBundle(t *testing.T, index, data []byte) (prefix string) {
	t.Helper()
	prefix = filepath.Join(t.TempDir(), "b")
	for name, content := range map[string][]byte{indexName(prefix): index, shardName(prefix, 0, 1): data} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want one with %q and code %d", err, exitcode.Of(err), want, exitcode.BadData)
	}
}
