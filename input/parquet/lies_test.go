package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
)

// sample is a record of what most files have.
type sample struct {
	A int64    `parquet:"a,delta"`
	B *float64 `parquet:"b,optional"`
	C string   `parquet:"c,dict"`
	D string   `parquet:"d,delta"`
	L []int32  `parquet:"l,list"`
	F bool     `parquet:"f"`
	H [4]byte  `parquet:"h,delta"`
}

func samples(n int) []sample {
	rows := make([]sample, n)
	for i := range rows {
		rows[i] = sample{A: int64(i), C: strings.Repeat("c", i%5), D: "d", F: i%3 == 0, H: [4]byte{byte(i)}}
		if i%4 > 0 {
			b := float64(i) / 4
			rows[i].B = &b
		}
		for k := range i % 4 {
			rows[i].L = append(rows[i].L, int32(k))
		}
	}
	return rows
}

// content returns the bytes of a file of samples.
func content(t testing.TB, n int, options ...parquet.WriterOption) []byte {
	t.Helper()
	file, err := os.ReadFile(write(t, samples(n), options...))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// relabel returns a file with another footer.
func relabel(t testing.TB, file []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	end := len(file) - tailBytes - int(binary.LittleEndian.Uint32(file[len(file)-tailBytes:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), file[end:len(file)-tailBytes], &meta); err != nil {
		t.Fatal(err)
	}
	change(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	file = append(bytes.Clone(file[:end]), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}

// readAll reads all cells of all columns of a file, and returns the first error.
func readAll(t testing.TB, dir string, file []byte) error {
	t.Helper()
	name := filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRows(t.Context(), []string{name}, input.Folders{}, input.Limits{}, func(string) Need { return Texts })
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Each(t.Context(), 0, r.Records(), func(*Row) error { return nil }); err != nil {
		return err
	}
	return learnAll(t, name)
}

// learnAll reads the columns of samples that are there in all forms of cells, as a job that learns does.
func learnAll(t testing.TB, name string) error {
	plan, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"f"}}}, {Numeric: &column.NumericOptions{Names: []string{"a"}}}, {Numeric: &column.NumericOptions{Names: []string{"b"}, Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"c"}, Hash: 7}}, {Categorical: &column.CategoricalOptions{Names: []string{"d"}, Vocabulary: "auto"}}, {IDs: &column.IDsOptions{Names: []string{"l"}, Size: 9}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), []string{name}, Config{Columns: plan, Learn: true, Tolerate: true})
	if err != nil {
		return err
	}
	defer s.Close()
	var b input.Batch
	for at := range s.blocks() {
		b.Reset()
		if err := s.AppendBlock(&b, at, func(int, error) {}); err != nil {
			return err
		}
	}
	return nil
}

// TestLies verifies that a footer that says what cannot be ends with exitcode.BadData and the file, and so do what is not
// read: encryption, LZO, columns in other files, files that are cut or none.
func TestLies(t *testing.T) {
	whole := content(t, 1000)
	if err := readAll(t, t.TempDir(), whole); err != nil {
		t.Fatal(err)
	}
	chunk := func(change func(*format.ColumnChunk)) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[0]) }
	}
	meta := func(change func(*format.ColumnMetaData)) func(*format.FileMetaData) {
		return chunk(func(c *format.ColumnChunk) { change(&c.MetaData) })
	}
	cases := []struct {
		name, want string
		file       []byte
		change     func(*format.FileMetaData)
	}{
		{name: "empty", want: "too short", file: []byte{}},
		{name: "text", want: "no Parquet file", file: []byte("a,b\n1,2\n1,2\n1,2\n")},
		{name: "compressed as a whole", want: "is gzip", file: []byte("\x1f\x8b\x08\x00aaaaaaaaaaaaaaaaaa")},
		{name: "encrypted", want: "is encrypted", file: append([]byte(encryptedMagic+"aaaaaaaa\x04\x00\x00\x00"), encryptedMagic...)},
		{name: "cut", want: "is cut", file: whole[:len(whole)-20]},
		{name: "length of the footer", want: "its footer says that it has", file: append(bytes.Clone(whole[:len(whole)-tailBytes]), "\xff\xff\xff\x7fPAR1"...)},
		{name: "no schema", want: "schema", change: func(m *format.FileMetaData) { m.Schema = nil }},
		{name: "children", want: "schema", change: func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 1 << 30 }},
		{name: "too few children", want: "schema", change: func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 2 }},
		{name: "records", want: "says 5 records", change: func(m *format.FileMetaData) { m.NumRows = 5 }},
		{name: "many records", want: "raise input.max_inflate", change: func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<60, 1<<60 }},
		{name: "negative records", want: "-1 records", change: func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = -1, -1 }},
		{name: "more records than values", want: "column a, row group 0", change: func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1001, 1001 }},
		{name: "columns", want: "has 6 columns, want 7", change: func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:6] }},
		{name: "LZO", want: "compressed by LZO", change: meta(func(c *format.ColumnMetaData) { c.Codec = format.LZO })},
		{name: "LZ4", want: "compressed by LZ4 of Hadoop", change: meta(func(c *format.ColumnMetaData) { c.Codec = format.Lz4 })},
		{name: "codec", want: "codec 77", change: meta(func(c *format.ColumnMetaData) { c.Codec = 77 })},
		{name: "offset", want: "lies at byte", change: meta(func(c *format.ColumnMetaData) { c.DataPageOffset, c.DictionaryPageOffset = math.MaxInt64, 0 })},
		{name: "negative offset", want: "lies at byte", change: meta(func(c *format.ColumnMetaData) { c.DataPageOffset = -4 })},
		{name: "bytes", want: "lies at byte", change: meta(func(c *format.ColumnMetaData) { c.TotalCompressedSize = math.MaxInt64 })},
		{name: "another file", want: "lies in another file", change: chunk(func(c *format.ColumnChunk) { c.FilePath = "b.parquet" })},
		{name: "encrypted column", want: "is encrypted", change: chunk(func(c *format.ColumnChunk) { c.EncryptedColumnMetadata = []byte("a") })},
		{name: "unit", want: "is time of type", change: func(m *format.FileMetaData) {
			m.Schema[1].LogicalType.Value = &format.TimeType{}
		}},
		{name: "type", want: "column a", change: func(m *format.FileMetaData) { m.Schema[1].Type.V = 1 }},
	}
	for _, tt := range cases {
		file := tt.file
		if tt.change != nil {
			file = relabel(t, whole, tt.change)
		}
		err := readAll(t, t.TempDir(), file)
		if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "a.parquet") || input.BadRecord(err) {
			t.Errorf("case=%s: error %v, want one of bad data about a.parquet: %s", tt.name, err, tt.want)
		}
	}
}

// TestLongLists verifies that lists of few bytes which are long take no more memory than input.max_inflate says.
func TestLongLists(t *testing.T) {
	type lists struct {
		L []int64 `parquet:"l,dict"`
	}
	name := write(t, []lists{{make([]int64, 1<<18)}})
	for _, tt := range []struct {
		most int64
		code int
	}{{64 << 20, exitcode.OK}, {1 << 20, exitcode.BadData}} {
		rows, err := OpenRows(t.Context(), []string{name}, input.Folders{}, input.Limits{MaxInflate: tt.most}, func(string) Need { return Texts })
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		if err := rows.Each(t.Context(), 0, 1, func(*Row) error { return nil }); exitcode.Of(err) != tt.code {
			t.Errorf("max_inflate=%d: error %v, want exit code %d", tt.most, err, tt.code)
		}
	}
}

// FuzzFile verifies that a file with changed bytes neither panics nor hangs nor takes memory that it does not have.
func FuzzFile(f *testing.F) {
	for _, o := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Lz4Raw), parquet.Compression(&parquet.Brotli)} {
		for _, version := range []int{1, 2} {
			f.Add(content(f, 40, o, parquet.DataPageVersion(version), parquet.PageBufferSize(200)))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := readAll(t, t.TempDir(), file); err != nil && exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v, want one of bad data", err)
		}
	})
}

// TestFlipped verifies the same for each fourth byte of some files, and that a file that is cut anywhere is refused.
func TestFlipped(t *testing.T) {
	for i, o := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Lz4Raw), parquet.Compression(&parquet.Zstd)} {
		whole := content(t, 20, o, parquet.DataPageVersion(1+i%2))
		dir := t.TempDir()
		for at := i; at < len(whole); at += 4 {
			if err := readAll(t, dir, whole[:at]); exitcode.Of(err) != exitcode.BadData {
				t.Fatalf("case=%d: cut at byte %d: error %v", i, at, err)
			}
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << (at % 8)
			if err := readAll(t, dir, flipped); err != nil && exitcode.Of(err) != exitcode.BadData {
				t.Fatalf("case=%d: byte %d flipped: error %v", i, at, err)
			}
			flipped[at] = 0xff
			if err := readAll(t, dir, flipped); err != nil && exitcode.Of(err) != exitcode.BadData {
				t.Fatalf("case=%d: byte %d is 255: error %v", i, at, err)
			}
		}
	}
}

// TestFooterMemory verifies that a footer of many elements that take no bytes, or of names that are long in sum, is refused
// before it takes memory.
func TestFooterMemory(t *testing.T) {
	many := binary.AppendUvarint(nil, 50<<20)
	nothing := make([]byte, 50<<20)
	for name, head := range map[string]string{
		"schema": "\x29\xfc" + string(many), "groups": "\x49\xfc" + string(many),
		"chunks": "\x49\x1c\x19\xfc" + string(many), // a group whose chunks
	} {
		if f, err := parseFooter(append([]byte(head), nothing...)); !errors.Is(err, errThrift) || len(f.elements)+len(f.groups) > 1 {
			t.Errorf("%s: %d elements, %d groups, error %v, want %v", name, len(f.elements), len(f.groups), err, errThrift)
		}
	}
	small := bytes.Repeat([]byte("\x48\x01a\x00"), maxElements+1) // of a name alone
	if _, err := parseFooter(append(binary.AppendUvarint([]byte("\x29\xfc"), maxElements+1), small...)); err == nil || !strings.Contains(err.Error(), "more than 1048576 elements") {
		t.Errorf("a schema of too many elements: error %v", err)
	}
	schema := []element{{physical: -1, children: 1}, {physical: -1, children: 100, name: strings.Repeat("a", 1<<20)}}
	for range 100 {
		schema = append(schema, element{name: "b"})
	}
	if _, _, err := columnsOf(schema); err == nil || !strings.Contains(err.Error(), "names of its schema") {
		t.Errorf("long names: error %v, want that they are too long", err)
	}
}
