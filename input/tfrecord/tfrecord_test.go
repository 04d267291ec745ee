package tfrecord_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"ringtrain/input"
	"ringtrain/input/maskedcrc"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// write writes a file of records and returns its name.
func write(t testing.TB, records ...[]byte) string {
	t.Helper()
	return save(t, framed(records...))
}

func framed(records ...[]byte) []byte {
	var b bytes.Buffer
	w := tfrecord.NewWriter(&b)
	for _, r := range records {
		w.Write(r)
	}
	return b.Bytes()
}

func save(t testing.TB, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// sparse encodes n records; record i has i%5 pairs.
func sparse(n int) (all [][]byte) {
	var e tfrecord.Encoder
	for i := range n {
		var ids []uint32
		var values []float32
		for k := range i % 5 {
			ids, values = append(ids, uint32(i*k%97)), append(values, float32(k)/3)
		}
		all = append(all, e.AppendSparse(nil, float32(i%2), ids, values))
	}
	return all
}

// TestWriterBytes verifies the framing and the encoding of an Example: TensorFlow's fast
// parser requires key before value and one packed list.
func TestWriterBytes(t *testing.T) {
	var e tfrecord.Encoder
	got := e.AppendSparse(nil, 1, []uint32{3, 300}, []float32{0.5, 2})
	fields := map[string]string{
		"ids":    "\x0a\x0e\x0a\x03ids\x12\x07\x1a\x05\x0a\x03\x03\xac\x02",
		"label":  "\x0a\x0e\x0a\x05label\x12\x05\x1a\x03\x0a\x01\x01",
		"values": "\x0a\x16\x0a\x06values\x12\x0c\x12\x0a\x0a\x08\x00\x00\x00\x3f\x00\x00\x00\x40",
	}
	body := fields["ids"] + fields["label"] + fields["values"]
	if text := "\x0a" + string(rune(len(body))) + body; string(got) != text {
		t.Errorf("example is %x, want %x", got, text)
	}
	e = tfrecord.Encoder{Label: "y", Values: "x", FloatLabel: true}
	got = e.AppendDense(nil, 0.5, []float32{2})
	body = "\x0a\x0d\x0a\x01x\x12\x08\x12\x06\x0a\x04\x00\x00\x00\x40" + "\x0a\x0d\x0a\x01y\x12\x08\x12\x06\x0a\x04\x00\x00\x00\x3f"
	if text := "\x0a" + string(rune(len(body))) + body; string(got) != text {
		t.Errorf("example is %x, want %x", got, text)
	}
	got = e.AppendSparse(nil, 0, nil, nil)
	body = "\x0a\x09\x0a\x03ids\x12\x02\x1a\x00" + "\x0a\x07\x0a\x01x\x12\x02\x12\x00" + "\x0a\x0d\x0a\x01y\x12\x08\x12\x06\x0a\x04\x00\x00\x00\x00"
	if text := "\x0a" + string(rune(len(body))) + body; string(got) != text {
		t.Errorf("example is %x, want %x", got, text)
	}
	// A frame computed independently of the writer.
	head := []byte{3, 0, 0, 0, 0, 0, 0, 0}
	table := crc32.MakeTable(crc32.Castagnoli)
	masked := func(b []byte) []byte {
		c := crc32.Checksum(b, table)
		return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
	}
	record := slices.Concat(head, masked(head), []byte("abc"), masked([]byte("abc")))
	if got := framed([]byte("abc")); !bytes.Equal(got, record) {
		t.Errorf("record is %x, want %x", got, record)
	}
}

func pack(t testing.TB, how string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	case "zstd":
		w, _ = zstd.NewWriter(&out)
	default:
		return b
	}
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// TestCompression verifies that compressed files give the same records, and that a plain
// file that begins like gzip is plain.
func TestCompression(t *testing.T) {
	records := sparse(40_000) // more than a window and, held in memory, than a block
	for _, how := range []string{"none", "gzip", "zlib", "zstd"} {
		for _, option := range []string{"", "auto", strings.Replace(how, "zstd", "auto", 1)} {
			t.Run(fmt.Sprintf("file=%s/option=%s", how, option), func(t *testing.T) {
				d := open(t, save(t, pack(t, how, framed(records...))), tfrecord.Config{Compression: option})
				if d.Facts().Records != len(records) || d.Facts().Features != 97 {
					t.Fatalf("%d records, %d features", d.Facts().Records, d.Facts().Features)
				}
				b := record(t, d, 1234)
				if ids, values := b.X.Bags.Slot, b.X.Bags.Weights; !slices.Equal(ids, []uint32{0, 1234 % 97, 1234 * 2 % 97, 1234 * 3 % 97}) || values[3] != 1 {
					t.Errorf("record 1234 is %v %v", ids, values)
				}
			})
		}
	}
	t.Run("plain file begins with 1f 8b", func(t *testing.T) {
		var e tfrecord.Encoder
		long := e.AppendDense(nil, 1, make([]float32, 8000))
		padded := func(n int) []byte {
			return append(slices.Clone(long), example(entry("padding", text(strings.Repeat(" ", n))))...)
		}
		n := 2000 // lengths of 2 bytes
		d := open(t, write(t, padded(n+0x8b1f-len(padded(n)))), tfrecord.Config{Dense: true})
		if d.Facts().Records != 1 {
			t.Errorf("%d records", d.Facts().Records)
		}
	})
	t.Run("empty", func(t *testing.T) {
		if d := open(t, save(t, nil), tfrecord.Config{}); d.Facts().Records != 0 {
			t.Errorf("%d records", d.Facts().Records)
		}
	})
}

// TestBadFiles verifies the error of each damaged file, with file, record, offset and
// the wanted value.
func TestBadFiles(t *testing.T) {
	var e tfrecord.Encoder
	one := e.AppendSparse(nil, 1, []uint32{3}, []float32{0.5})
	good := framed(one, one)
	half := len(good) / 2
	change := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 1
		return b
	}
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64-5)
	huge = binary.LittleEndian.AppendUint32(huge, maskedcrc.Of(huge))
	tests := []struct {
		name, option string
		content      []byte
		err          string
	}{
		{"length", "", change(half), "tfrecord: F: record 1 at byte 68: length crc32c is 0x"},
		{"length crc", "", change(half + 9), "tfrecord: F: record 1 at byte 68: length crc32c is 0x"},
		{"data", "", change(half + 20), "tfrecord: F: record 1 at byte 68: data crc32c is 0x"},
		{"data crc", "", change(len(good) - 1), "tfrecord: F: record 1 at byte 68: data crc32c is 0x"},
		{"tail of a byte", "", append(slices.Clone(good), 0), "tfrecord: F: record 2 at byte 136: file ends after 1 bytes, want a head of 12"},
		{"cut in the data", "", good[:len(good)-7], "tfrecord: F: record 1 at byte 68: length is 52, want at most 45: the file has 129 bytes"},
		{"huge length", "", huge, "tfrecord: F: record 0 at byte 0: length is 18446744073709551610, want at most 0: the file has 12 bytes"},
		{"not a tfrecord file", "", []byte("label,ids,values\n1,2,3\n"), "tfrecord: F: record 0 at byte 0: length crc32c is 0x"},
		{"gzip cut off", "", pack(t, "gzip", good)[:40], "input: F: file ends early"},
		{"gzip sum", "", flip(pack(t, "gzip", good), -8), "input: F: gzip: invalid checksum"},
		{"zlib cut off", "", pack(t, "zlib", good)[:40], "input: F: file ends early"},
		{"gzip and more", "", append(pack(t, "gzip", good), "garbage"...), "input: F: 7 bytes behind the end of gzip"},
		{"zlib and more", "", append(pack(t, "zlib", good), pack(t, "zlib", good)...), "input: F: 71 bytes behind the end of zlib"},
		{"xz", "", []byte("\xfd7zXZ\x00\x00\x04and more"), "input: F is xz: unpack it"},
		{"xz in zlib", "", pack(t, "zlib", []byte("\xfd7zXZ\x00\x00\x04and more")), "input: F, unpacked, is xz: unpack it"},
		{"gzip twice", "", pack(t, "gzip", pack(t, "gzip", good)), "input: F, unpacked, is gzip: unpack it"},
		{"Parquet", "", []byte("PAR1\x15\x04 and more"), "input: F is Parquet: "},
		{"gzip wanted", "gzip", good, "input: F: gzip: invalid header"},
		{"none wanted", "none", pack(t, "gzip", good), "tfrecord: F: record 0 at byte 0: length crc32c is 0x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := save(t, tt.content)
			_, err := tfrecord.Open(t.Context(), []string{name}, tfrecord.Config{Compression: tt.option}) // reads all
			if err == nil {
				t.Fatal("no error")
			}
			text := strings.ReplaceAll(err.Error(), filepath.Dir(name)+"/", "")
			if !strings.HasPrefix(text, tt.err) || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("error %q (%d), want %q (%d)", text, exitcode.Of(err), tt.err, exitcode.BadData)
			}
		})
	}
	if _, err := tfrecord.Open(t.Context(), []string{"nowhere"}, tfrecord.Config{}); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("missing file: %v (%d)", err, exitcode.Of(err))
	}
	_, err := tfrecord.Open(t.Context(), []string{"x"}, tfrecord.Config{Compression: "bz2", Features: -1, IDs: "a", Values: "a"})
	want := "compression is \"bz2\", want auto, none, gzip or zlib\nfeatures is -1, want 0 or more\nlabel is \"label\", ids \"a\", values \"a\", want different names"
	if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want %s", err, want)
	}
}

func flip(b []byte, at int) []byte {
	b[(at+len(b))%len(b)] ^= 1
	return b
}

// TestFileShrinks verifies that a file truncated during the read gives an error.
func TestFileShrinks(t *testing.T) {
	name := write(t, sparse(10)...)
	d := open(t, name, tfrecord.Config{Features: 97})
	if err := os.Truncate(name, 30); err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	err := d.Append(&b, 9)
	if err == nil || !strings.Contains(err.Error(), "record 9") || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d)", err, exitcode.Of(err))
	}
}

// TestConcurrentReaders verifies that readers share no memory.
func TestConcurrentReaders(t *testing.T) {
	d := open(t, write(t, sparse(200)...), tfrecord.Config{Features: 97})
	var want [200]input.Batch
	for i := range want {
		want[i] = record(t, d, i)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range want {
				var b input.Batch
				if err := d.Append(&b, i); err != nil || !reflect.DeepEqual(b, want[i]) {
					t.Errorf("record %d: %v, error %v, want %v", i, b, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkAppend(b *testing.B) {
	d := open(b, write(b, sparse(1000)...), tfrecord.Config{})
	var batch input.Batch
	i := 0
	for b.Loop() {
		if i%100 == 0 {
			batch.Reset()
		}
		d.Append(&batch, i%1000)
		i++
	}
}
