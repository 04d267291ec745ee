package text

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// collect is a parser that keeps the line: its bytes become the ids.
func collect(b *input.Batch, line []byte, _ int) error {
	if bytes.HasPrefix(line, []byte("bad")) {
		return errors.New("line is bad")
	}
	x := b.Bags(1)
	for _, c := range line {
		x.Add(uint32(c), 1)
	}
	x.End()
	b.Y = append(b.Y, 1)
	return nil
}

// lineOf returns the line that collect has kept.
func lineOf(b *input.Batch) string {
	var s []byte
	for _, c := range b.X.Bags.Slot {
		s = append(s, byte(c))
	}
	return string(s)
}

func save(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const byteOrderMark = "\xef\xbb\xbf"

// reference returns the records of a text with their offsets, character by character.
func reference(content string, c Config) (records []string, offsets []int) {
	start, at := 0, fieldStart
	if strings.HasPrefix(content, byteOrderMark) {
		start = len(byteOrderMark)
	}
	add := func(end int) {
		line := content[start:end]
		word := strings.TrimLeft(line, strings.ReplaceAll(" \t\r", string(rune(c.Separator)), ""))
		if word != "" && (c.Comment == 0 || word[0] != c.Comment) {
			records, offsets = append(records, line+"\n"), append(offsets, start)
		}
		start = end + 1
	}
	for i := start; i < len(content); i++ {
		switch char := content[i]; {
		case c.Quote != 0 && char == c.Quote && at == fieldStart:
			at = inQuotes
		case at == inQuotes && char == c.Quote:
			at = fieldStart
		case at == inQuotes:
		case char == '\n':
			add(i)
			at = fieldStart
		case char == c.Separator:
			at = fieldStart
		default:
			at = inField
		}
	}
	if start < len(content) {
		add(len(content))
	}
	if c.Header && len(records) > 0 {
		records, offsets = records[1:], offsets[1:]
	}
	return records, offsets
}

// drawText draws lines of all kinds, some of them longer than a block.
func drawText(r *rand.Rand, size int, quote byte) string {
	var s strings.Builder
	for s.Len() < size {
		switch k := r.IntN(40); {
		case k == 0:
			s.WriteString(strings.Repeat(" ", r.IntN(3*input.BlockBytes)))
		case k == 1:
			s.WriteString(strings.Repeat("long ", r.IntN(input.BlockBytes)))
		case k == 2:
			s.WriteString("  # comment " + strings.Repeat("x", r.IntN(100)))
		case k == 3 && quote != 0:
			s.WriteString("a,\"" + strings.Repeat("in\nside ", r.IntN(input.BlockBytes/4)) + "\"")
		case k < 8 && quote != 0:
			s.WriteString([]string{"\"", "pipe 5\"", "\"\"\"\n\",\"", "\"a\"b,\"\n", ",\"", "\"\"\"\""}[r.IntN(6)])
		case k == 4:
			s.WriteString("\t\t" + byteOrderMark[:r.IntN(4)])
		case k < 6:
			s.WriteString("\r")
		case k < 9:
		default:
			s.WriteString(strings.Repeat("w", 1+r.IntN(400)))
		}
		s.WriteByte('\n')
	}
	content := s.String()
	if r.IntN(2) == 0 {
		content = strings.TrimRight(content, "\n")
	}
	return content
}

// TestRecords verifies, on drawn files of several blocks, that the counts, and each record
// by its number, are those of a reader that goes character by character: with comments,
// quotes, headers, blank lines, long lines and lines that begin and end at a block's edge.
func TestRecords(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []Config{{Comment: '#'}, {}, {Quote: '"', Separator: ','}, {Quote: '"', Separator: ',', Header: true}, {Quote: '"', Separator: '\t'}, {Quote: '"'}} {
		for round := range 12 {
			c.Parse, c.Format = collect, "text"
			var names, want []string
			var files [][]int
			for range 1 + r.IntN(3) {
				content := drawText(r, r.IntN(8*input.BlockBytes), c.Quote)
				if r.IntN(3) == 0 { // a line begins at a block's edge
					content = strings.Repeat("e", input.BlockBytes-1) + "\n" + content
				}
				if r.IntN(3) == 0 {
					content = byteOrderMark + content
				}
				records, offsets := reference(content, c)
				want, files = append(want, records...), append(files, offsets)
				names = append(names, save(t, "f", content))
			}
			s, err := Open(t.Context(), names, c)
			if err != nil {
				t.Fatalf("seed %d round %d: %v", seed, round, err)
			}
			if s.Facts().Records != len(want) {
				t.Fatalf("seed %d round %d quote=%q: %d records, want %d", seed, round, c.Quote, s.Facts().Records, len(want))
			}
			checkCounts(t, s, files)
			for _, i := range r.Perm(len(want)) {
				var b input.Batch
				if err := s.Append(&b, i); err != nil {
					t.Fatal(err)
				}
				if got := lineOf(&b); got != want[i] {
					t.Fatalf("seed %d round %d quote=%q: record %d is %.60q (%d), want %.60q (%d)", seed, round, c.Quote, i, got, len(got), want[i], len(want[i]))
				}
			}
			s.Close()
		}
	}
}

// checkCounts compares the counts with the offsets of the records of each file.
func checkCounts(t testing.TB, s *Set, files [][]int) {
	t.Helper()
	for i, offsets := range files {
		want := make([]int, s.files[i].blocks())
		for _, at := range offsets {
			want[at/input.BlockBytes]++
		}
		for b, n := range want {
			if got := s.blocks.Count(s.files[i].first + b); got != n {
				t.Fatalf("file %d, block %d has %d records, want %d", i, b, got, n)
			}
		}
	}
}

// TestErrors verifies the messages of a bad line, of a file that changes, and of a line that
// is too long.
func TestErrors(t *testing.T) {
	c := Config{Format: "text", Parse: collect, Comment: '#'}
	name := save(t, "F", "# x\n\n1\nbad\n2")
	s, err := Open(t.Context(), []string{name}, c)
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	want := "text: " + name + ":4: record 1 at byte 7: line is bad"
	if err := s.Append(&b, 1); err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
	}
	if err := s.Check(t.Context()); err == nil || err.Error() != want {
		t.Errorf("check: error %v, want %s", err, want)
	}
	s.Close()

	for change, do := range map[string]func(name string) error{
		"it was changed at": func(name string) error { return os.Chtimes(name, time.Time{}, time.Now().Add(time.Hour)) },
		"it has 3 bytes":    func(name string) error { return os.Truncate(name, 3) },
	} {
		name := save(t, "F", "1\n2\n3\n")
		s, err := Open(t.Context(), []string{name}, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := do(name); err != nil {
			t.Fatal(err)
		}
		err = s.Append(&b, 0)
		if want := "input: " + name + " changed while it was read: " + change; err == nil || !strings.HasPrefix(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
		}
		s.Close()
	}
}

// TestLongLine verifies that a line of 128 MiB is refused in bounded memory, and so is a quote that is
// not closed in 66 MiB of lines.
func TestLongLine(t *testing.T) {
	c := Config{Format: "text", Parse: collect}
	name := save(t, "F", "1\n")
	if err := os.Truncate(name, 128<<20); err != nil { // zero bytes, which take no room on disk
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Open(t.Context(), []string{name}, c)
	runtime.ReadMemStats(&after)
	want := "text: " + name + ":2: byte 2: line is longer than 67108864 bytes"
	if err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
	c.Quote = '"'
	name = save(t, "F", "1\n\"")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat(" ", 1<<20-1) + "\n")
	for range MaxLine>>20 + 2 {
		f.Write(line)
	}
	f.Close()
	want = "text: " + name + ":2: byte 2: line is longer than 67108864 bytes: a quote in it may not be closed"
	if _, err := Open(t.Context(), []string{name}, c); err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
	}
}

// TestMemory verifies that memory does not grow with the file: after a shuffled pass over 48
// MiB no more than two windows of blocks lie in memory, and a second pass allocates nothing.
func TestMemory(t *testing.T) {
	line := "1 " + strings.Repeat("x", 997) + "\n"
	name := save(t, "F", strings.Repeat(line, 48<<20/len(line)))
	c := Config{Format: "text", Parse: func(b *input.Batch, line []byte, _ int) error {
		b.Bags(1).End()
		b.Y = append(b.Y, 1)
		return nil
	}}
	s, err := Open(t.Context(), []string{name}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source, err := input.NewSource(t.Context(), s, input.SourceConfig{Batch: 100, Size: 1, Shuffle: true}, input.Position{})
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	pass := func() {
		for range (s.Facts().Records-1)/100 + 1 {
			if err := source.Next(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
		}
	}
	pass()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pass()
	runtime.ReadMemStats(&after)
	if before.HeapAlloc > 48<<20 {
		t.Errorf("%d MiB are held", before.HeapAlloc>>20)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("a pass allocates %d KiB", got>>10)
	}
}

// TestConcurrent verifies that goroutines that read at once get the same records.
func TestConcurrent(t *testing.T) {
	var content strings.Builder
	for i := range 200000 {
		fmt.Fprintf(&content, "%d\n", i)
	}
	s, err := Open(t.Context(), []string{save(t, "F", content.String())}, Config{Format: "text", Parse: collect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	faults := make(chan error, 8)
	for g := range 8 {
		go func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			var b input.Batch
			for range 2000 {
				b.Reset()
				i := r.IntN(s.Facts().Records)
				if err := s.Append(&b, i); err != nil {
					faults <- err
					return
				}
				if got, want := lineOf(&b), fmt.Sprintf("%d\n", i); got != want {
					faults <- fmt.Errorf("record %d is %q", i, got)
					return
				}
			}
			faults <- nil
		}()
	}
	for range 8 {
		if err := <-faults; err != nil {
			t.Error(err)
		}
	}
}

// TestManifest verifies the line of each file, of several, one of them empty.
func TestManifest(t *testing.T) {
	s, err := Open(t.Context(), []string{save(t, "a", "1\n2\n"), save(t, "b", ""), save(t, "c", "3")}, Config{Parse: collect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, want := s.Facts().Manifest, []string{"a 4 2", "b 0 0", "c 1 1"}; !slices.Equal(got, want) {
		t.Errorf("manifest %q, want %q", got, want)
	}
}

// FuzzRecords verifies, for any text, that the records are those of a reader that goes
// character by character, with comments, quotes and headers, and that a record with a byte 0 is bad.
func FuzzRecords(f *testing.F) {
	f.Add("1 2\n# x\n\n 3\r\n4", byte('#'), byte(0), false)
	f.Add("a,\"b\nc\"\n\"\"\"\n\"\nd", byte(0), byte('"'), true)
	f.Fuzz(func(t *testing.T, content string, comment, quote byte, header bool) {
		if comment <= ' ' || comment == quote || quote != 0 && quote <= ' ' {
			comment, quote = '#', '"'
		}
		if packed, err := input.Compression("G", []byte(content[:min(len(content), 4<<10)]), true); packed != "" || err != nil {
			return
		}
		c := Config{Format: "text", Comment: comment, Quote: quote, Header: header, Parse: func(b *input.Batch, line []byte, _ int) error {
			return collect(b, append([]byte("x"), line...), 0)
		}}
		want, _ := reference(content, c)
		s, err := Open(t.Context(), []string{save(t, "F", content)}, c)
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		defer s.Close()
		if s.Facts().Records != len(want) {
			t.Fatalf("%q: %d records, want %d", content, s.Facts().Records, len(want))
		}
		for i, line := range want {
			var b input.Batch
			if err := s.Append(&b, i); (err != nil) != strings.Contains(line, "\x00") {
				t.Fatalf("%q: record %d: error %v", content, i, err)
			} else if err != nil {
				continue
			}
			if got := lineOf(&b); got != "x"+line {
				t.Fatalf("%q: record %d is %q, want %q", content, i, got[1:], line)
			}
		}
	})
}

// TestAppendMany verifies that many records at once are those that come one by one, that a bad
// one is the same error, and that nothing is allocated.
func TestAppendMany(t *testing.T) {
	var content strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&content, "%d\n", i)
	}
	content.WriteString("bad\n")
	s, err := Open(t.Context(), []string{save(t, "F", content.String())}, Config{Format: "text", Parse: collect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records := rand.New(rand.NewPCG(5, 5)).Perm(60000)[:1000]
	var one, all input.Batch
	for _, i := range records {
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
	if !slices.Equal(one.X.Bags.Slot, all.X.Bags.Slot) || !slices.Equal(one.X.Bags.Start, all.X.Bags.Start) || !slices.Equal(one.Y, all.Y) {
		t.Error("the records differ")
	}
	if got := testing.AllocsPerRun(20, read); got > 0 {
		t.Errorf("%g allocations", got)
	}
	want := s.Append(&one, 60000)
	if err := s.Append(&all, 3, 60000); err == nil || fmt.Sprint(err) != fmt.Sprint(want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
