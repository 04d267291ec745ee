package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// texts is a Text in memory: each record is a function of its number.
type texts struct {
	blocks       *input.Blocks
	cols, fields int
	bad          map[int]bool
	keys         bool
}

func (t texts) Facts() input.Facts {
	return input.Facts{Records: t.blocks.Records(), Features: max(t.cols, 1000), Blocks: t.blocks}
}

func (t texts) Close() error { return nil }
func (t texts) Forget()      {}
func (t texts) shape() input.RecordShape {
	return input.RecordShape{Cols: t.cols, Fields: t.fields}
}
func (t texts) FileRecords() []int {
	n := t.blocks.Records()
	return []int{n / 3, n - n/3}
}

func (t texts) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		if err := t.append(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (t texts) append(b *input.Batch, i int) error {
	if t.bad[i] {
		return exitcode.With(exitcode.BadData, input.WithLost(1+i, fmt.Errorf("record %d is bad", i)))
	}
	r := rand.New(rand.NewPCG(uint64(i), 0))
	if t.cols > 0 {
		for k := range b.DenseRow(t.cols) {
			b.X.Dense.Data[len(b.X.Dense.Data)-t.cols+k] = r.Float32()
		}
	}
	if t.fields > 0 {
		x := b.Bags(t.fields)
		for range t.fields {
			for range r.IntN(5) {
				w := float32(1)
				if i%64 > 32 {
					w = r.Float32()
				}
				x.Add(uint32(r.IntN(1000)), w)
			}
			x.End()
		}
	}
	b.Y = append(b.Y, float32(i))
	if t.keys && b.WantKeys {
		copy(b.AddKeys(2), []string{strings.Repeat("k", i%3) + fmt.Sprint(i%7), fmt.Sprint(i)})
	}
	if i%100 == 99 {
		b.SetImportance(2.5)
	} else {
		b.SetImportance(1)
	}
	return nil
}

func (t texts) AppendBlock(b *input.Batch, block int, bad func(place int, err error)) error {
	for k := range t.blocks.Count(block) {
		if err := t.Append(b, t.blocks.First(block)+k); err != nil {
			b.AppendEmpty(t.shape())
			bad(k, err)
		}
	}
	return nil
}

func draw(cols, fields int) texts {
	counts := make([]uint16, 150)
	for i := range counts {
		counts[i] = uint16(i * 7 % 23)
	}
	return texts{blocks: input.NewBlocks(counts), cols: cols, fields: fields, bad: map[int]bool{0: true, 70: true, 71: true}}
}

func sources(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b"} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func mustMake(t testing.TB, c Config, d texts) *Set {
	t.Helper()
	c.Shape = d.shape()
	if err := Make(t.Context(), c, d, 3); err != nil {
		t.Fatal(err)
	}
	s, why, err := Find(c)
	if s == nil || err != nil {
		t.Fatalf("the cache that was made is not found: %s %v", why, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// same fails if record i of two data sets differs in any bit, or in its error.
func same(t testing.TB, a, b input.Dataset, i int) {
	t.Helper()
	x, y := input.Batch{WantKeys: true}, input.Batch{WantKeys: true}
	errX, errY := a.Append(&x, i), b.Append(&y, i)
	if fmt.Sprint(errX) != fmt.Sprint(errY) || exitcode.Of(errX) != exitcode.Of(errY) {
		t.Fatalf("record %d: error %v, want %v", i, errX, errY)
	}
	if errX != nil {
		return
	}
	bits := func(v []float32) (all []uint32) {
		for _, f := range v {
			all = append(all, math.Float32bits(f))
		}
		return all
	}
	p, q := &x.X.Bags, &y.X.Bags
	if !slices.Equal(x.Keys, y.Keys) || !slices.Equal(bits(x.Y), bits(y.Y)) || !slices.Equal(bits(x.Importance), bits(y.Importance)) || !slices.Equal(bits(x.X.Dense.Data), bits(y.X.Dense.Data)) ||
		p.Fields != q.Fields || !slices.Equal(p.Start, q.Start) || !slices.Equal(p.Slot, q.Slot) || !slices.Equal(bits(p.Weights), bits(q.Weights)) {
		t.Fatalf("record %d is %+v, want %+v", i, x, y)
	}
}

// TestRoundTrip verifies that each record of a cache is that of its text, bit for bit, in any
// order: pairs, dense rows, importances, keys, and records that are bad.
func TestRoundTrip(t *testing.T) {
	for _, shape := range [][2]int{{0, 1}, {0, 7}, {3, 0}, {2, 2}} {
		d := draw(shape[0], shape[1])
		d.keys = shape[1] != 1
		s := mustMake(t, Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}, d)
		if s.Facts().Records != d.Facts().Records || s.Facts().Features != d.Facts().Features || s.blocks.Len() != d.blocks.Len() {
			t.Fatalf("%d records of %d features, want %d of %d", s.Facts().Records, s.Facts().Features, d.Facts().Records, d.Facts().Features)
		}
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(d.Facts().Records) {
			same(t, s, d, i)
		}
		want := []string{fmt.Sprintf("a 1 %d", d.Facts().Records/3), fmt.Sprintf("b 1 %d", d.Facts().Records-d.Facts().Records/3)}
		if got := s.Facts().Manifest; !slices.Equal(got, want) {
			t.Errorf("manifest %q, want %q", got, want)
		}
	}
}

// TestFind verifies that a cache of another key, of changed sources, of another version or
// that is cut off is none, and that it says why.
func TestFind(t *testing.T) {
	files := sources(t)
	c := Config{Dir: t.TempDir(), Files: files, Key: "k"}
	if s, why, err := Find(c); s != nil || why != "" || err != nil {
		t.Errorf("found %v, %q, error %v where there is none", s, why, err)
	}
	mustMake(t, c, draw(0, 1))
	content, err := os.ReadFile(c.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(b []byte) []byte
		why    string
	}{
		{"version", func(b []byte) []byte { b[8] = 1; return b }, "it has version 1, want 3"},
		{"magic", func(b []byte) []byte { b[0] = 'x'; return b }, "it is no cache"},
		{"meta", func(b []byte) []byte { b[30] ^= 1; return b }, "crc32c of its description is wrong"},
		{"long meta", func(b []byte) []byte { b[14] = 0xff; return b }, "its description has"},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }, "it has no index at its end"},
		{"empty", func(b []byte) []byte { return nil }, "it ends early"},
		{"index", func(b []byte) []byte { b[len(b)-30] ^= 1; return b }, "crc32c of its index is wrong"},
		{"key", func(b []byte) []byte { return b }, "its records are parsed in another way"},
	} {
		if err := os.WriteFile(c.Name(), tt.change(bytes.Clone(content)), 0o666); err != nil {
			t.Fatal(err)
		}
		if tt.name == "key" { // of a file with the name of another
			other := Config{Dir: c.Dir, Files: files, Key: "other"}
			os.Rename(c.Name(), other.Name())
			s, why, err := Find(other)
			if s != nil || why != tt.why || err != nil {
				t.Errorf("case=%s: found %v, %q, error %v", tt.name, s, why, err)
			}
			continue
		}
		if s, why, err := Find(c); s != nil || !strings.Contains(why, tt.why) || err != nil {
			t.Errorf("case=%s: found %v, %q, error %v, want %q", tt.name, s, why, err, tt.why)
		}
	}
	os.WriteFile(c.Name(), content, 0o666)
	if err := os.Chtimes(files[1], time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s, why, err := Find(c); s != nil || why != files[1]+" has changed" || err != nil {
		t.Errorf("found %v, %q, error %v after a source has changed", s, why, err)
	}
}

// TestBrokenBlock verifies that a flipped bit in a block is an error that names cache, block
// and offset, which is about no record.
func TestBrokenBlock(t *testing.T) {
	c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
	s := mustMake(t, c, draw(0, 1))
	content, _ := os.ReadFile(c.Name())
	content[s.entries[1].offset+40] ^= 1
	os.WriteFile(c.Name(), content, 0o666)
	c.Shape = draw(0, 1).shape()
	s, _, _ = Find(c)
	defer s.Close()
	var b input.Batch
	err := s.Append(&b, 1)
	want := fmt.Sprintf("cache %s: block 1 at byte %d: crc32c of a block is", c.Name(), s.entries[1].offset)
	if err == nil || !strings.HasPrefix(err.Error(), want) || exitcode.Of(err) != exitcode.BadData || !errors.Is(err, input.ErrFile) {
		t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
	}
}

// TestOtherShape verifies that a block whose records have another shape is an error that names
// cache, block and both shapes, although its checksum is right.
func TestOtherShape(t *testing.T) {
	for _, shape := range []input.RecordShape{{Cols: 2, Fields: 3}, {Cols: 3, Fields: 2}, {Fields: 2}, {Cols: 2}} {
		c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
		mustMake(t, c, draw(2, 2))
		c.Shape = shape
		s, why, err := Find(c)
		if s == nil || err != nil {
			t.Fatalf("%s %v", why, err)
		}
		defer s.Close()
		var b input.Batch
		err = s.Append(&b, 1)
		want := fmt.Sprintf("block has records of 2 columns and 2 fields, want %d and %d; remove the file", shape.Cols, shape.Fields)
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData || !errors.Is(err, input.ErrFile) {
			t.Errorf("shape=%v: error %v, want %s", shape, err, want)
		}
	}
}

// TestOtherKeys verifies that ends of keys that do not fit are errors, although the checksum is right.
func TestOtherKeys(t *testing.T) {
	for want, change := range map[string]func(ends []byte) []byte{
		"a key ends at 9 of 3":                  func(b []byte) []byte { b[0] = 9; return b },
		"a key ends at 0 of 3":                  func(b []byte) []byte { b[4] = 0; return b },
		"a key ends at 3 of 4, and none behind": func(b []byte) []byte { return append(b, 'x') },
		"ends early":                            func(b []byte) []byte { return b[:7] },
	} {
		b := input.Batch{Y: []float32{1, 1}, Keys: []string{"a", "bc"}, KeyColumns: 1}
		b.DenseRow(1)
		b.DenseRow(1)
		data := appendBlock(nil, &b, nil)
		const keys = 2*4 + 3 // at the end
		data = append(data[:len(data)-keys:len(data)-keys], change(bytes.Clone(data[len(data)-keys:]))...)
		fix(data)
		held := block{data: data}
		if err := held.parse(2, input.RecordShape{Cols: 1}, input.Labels{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestOtherLabels verifies that a block with a label that the job does not permit is an error
// that names cache and block.
func TestOtherLabels(t *testing.T) {
	for _, labels := range []input.Labels{{Classes: 3}, {Binary: true}} {
		c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
		mustMake(t, c, draw(0, 1)) // record i has label i
		c.Shape, c.Labels = draw(0, 1).shape(), labels
		s, why, err := Find(c)
		if s == nil || err != nil {
			t.Fatalf("%s %v", why, err)
		}
		defer s.Close()
		var b input.Batch
		err = s.Append(&b, 1)
		if err == nil || !strings.Contains(err.Error(), c.Name()+": block 1 at byte ") || !strings.Contains(err.Error(), "label is ") || !errors.Is(err, input.ErrFile) {
			t.Errorf("labels=%+v: error %v", labels, err)
		}
	}
}

// TestWrongWeights verifies that a block with a weight that no record may have is an error.
func TestWrongWeights(t *testing.T) {
	for w, ok := range map[float32]bool{0: true, 2.5: true, -1: false, float32(math.Inf(1)): false, float32(math.NaN()): false} {
		b := input.Batch{Y: []float32{1, 1}, Importance: []float32{1, w}}
		b.DenseRow(1)
		b.DenseRow(1)
		held := block{data: appendBlock(nil, &b, nil)}
		fix(held.data)
		if err := held.parse(2, input.RecordShape{Cols: 1}, input.Labels{}); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "weight of a record is ") {
			t.Errorf("weight=%v: error %v", w, err)
		}
	}
}

// TestOtherFeatures verifies that a cache with another number of features than the job's is made
// anew.
func TestOtherFeatures(t *testing.T) {
	c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
	has := mustMake(t, c, draw(0, 1)).Facts().Features
	c.Features = has + 1
	want := fmt.Sprintf("it has %d features, want %d", has, has+1)
	if s, why, err := Find(c); s != nil || why != want || err != nil {
		t.Errorf("found %v, %q, error %v, want %q", s, why, err, want)
	}
}

// TestMakeEnds verifies that a cache that was not made whole leaves no file.
func TestMakeEnds(t *testing.T) {
	c := Config{Dir: filepath.Join(t.TempDir(), "new"), Files: sources(t), Key: "k"}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if err := Make(ctx, c, draw(0, 1), 1); err != why {
		t.Errorf("error %v, want %v", err, why)
	}
	if left, _ := os.ReadDir(c.Dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	c.Dir = c.Files[0]
	if err := Make(t.Context(), c, draw(0, 1), 1); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("error %v (%d) of a folder that is a file", err, exitcode.Of(err))
	}
}

// TestAllocatesNothing verifies that reading records from blocks in memory allocates nothing.
func TestAllocatesNothing(t *testing.T) {
	s := mustMake(t, Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}, draw(2, 2))
	var b input.Batch
	read := func() {
		b.Reset()
		for i := 1; i < 60; i++ {
			s.Append(&b, i)
		}
	}
	read()
	if got := testing.AllocsPerRun(50, read); got != 0 || len(b.Y) != 59 {
		t.Errorf("%g allocations for %d records", got, len(b.Y))
	}
}

// FuzzBlock verifies that no bytes, with a right checksum, make a block panic: every record
// is read or refused.
func FuzzBlock(f *testing.F) {
	for _, shape := range [][2]int{{0, 1}, {2, 2}, {3, 0}} {
		d := draw(shape[0], shape[1])
		d.keys = shape[1] > 0
		b := input.Batch{WantKeys: true}
		var bad []fault
		d.AppendBlock(&b, 9, func(place int, err error) { bad = append(bad, fault{place, input.Lost(err), err.Error()}) })
		f.Add(appendBlock(nil, &b, bad))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < headBytes {
			return
		}
		fix(data)
		b := block{data: data}
		n := int(data[0]) | int(data[1])<<8
		shape := input.RecordShape{Fields: int(binary.LittleEndian.Uint32(data[8:])), Cols: int(binary.LittleEndian.Uint32(data[12:]))}
		if b.parse(n, shape, input.Labels{}) != nil {
			return
		}
		for k := range n {
			dst := input.Batch{WantKeys: true}
			b.append(&dst, k, 1000)
		}
	})
}

// inMemory is the content of a cache in memory.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// fix gives a block the right checksum.
func fix(data []byte) {
	le := binary.LittleEndian
	le.PutUint32(data[headBytes-4:], 0)
	le.PutUint32(data[headBytes-4:], crc32.Checksum(data, castagnoli))
}

// FuzzOpen verifies that no file makes the reader panic or take more memory than it has.
func FuzzOpen(f *testing.F) {
	c := Config{Dir: f.TempDir(), Files: sources(f), Key: "k"}
	d := texts{input.NewBlocks([]uint16{2, 0, 3}), 1, 1, map[int]bool{3: true}, true}
	if err := Make(f.Context(), c, d, 1); err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(c.Name())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := newSet(Config{Shape: d.shape()}, inMemory{bytes.NewReader(data)}, int64(len(data)))
		if err != nil {
			return
		}
		defer s.Close()
		for i := range min(s.Facts().Records, 100) {
			var b input.Batch
			s.Append(&b, i)
		}
	})
}

// TestAppendMany verifies that many records at once are those that come one by one, that a bad
// one is the same error, and that nothing is allocated.
func TestAppendMany(t *testing.T) {
	s := mustMake(t, Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}, draw(2, 2))
	var records []int
	var one, all input.Batch
	for _, i := range rand.New(rand.NewPCG(5, 5)).Perm(s.Facts().Records) {
		if i == 0 || i == 70 || i == 71 {
			continue
		}
		records = append(records, i)
		if err := s.Append(&one, i); err != nil {
			t.Fatal(err)
		}
	}
	read := func() {
		all.Reset()
		if err := s.Append(&all, records...); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if !slices.Equal(one.X.Bags.Slot, all.X.Bags.Slot) || !slices.Equal(one.X.Dense.Data, all.X.Dense.Data) || !slices.Equal(one.Y, all.Y) {
		t.Error("the records differ")
	}
	if got := testing.AllocsPerRun(20, read); got > 0 {
		t.Errorf("%g allocations", got)
	}
	if err := s.Append(&all, 3, 70); err == nil || err.Error() != "record 70 is bad" || input.Lost(err) != 71 {
		t.Errorf("error %v", err)
	}
}
