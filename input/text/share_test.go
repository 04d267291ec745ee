package text

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// counts joins the shares of so many parts in s.
func counts(t testing.TB, s *Set, parts int) error {
	t.Helper()
	var shares [][]byte
	for part := range parts {
		b, err := s.CountShare(t.Context(), nil, part, parts)
		if err != nil {
			return err
		}
		shares = append(shares, b)
	}
	return s.JoinCounts(shares)
}

// TestShare verifies that the counts of any number of parts are those of one process, with and without
// quotes that hold line ends, and that the first records can be read before the rest is counted.
func TestShare(t *testing.T) {
	const seed = 8
	r := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []Config{{Comment: '#'}, {Quote: '"', Separator: ',', Header: true}} {
		c.Parse, c.Format = collect, "text"
		names := []string{
			save(t, "a", "first\n"+drawText(r, 13<<20, c.Quote)),
			save(t, "b", "second\n"+drawText(r, 100, c.Quote)),
			save(t, "c", "third\n"+drawText(r, 5<<20, c.Quote)),
		}
		whole, err := Open(t.Context(), names, c)
		if err != nil {
			t.Fatal(err)
		}
		c.Share = true
		for _, parts := range []int{1, 2, 3, 7} {
			s, err := Open(t.Context(), names, c)
			if err != nil {
				t.Fatal(err)
			}
			if s.Facts().Counting == nil || len(s.Facts().Manifest) != 3 || strings.Count(s.Facts().Manifest[0], " ") != 1 {
				t.Fatalf("seed %d: counted %t, manifest %q", seed, s.Facts().Counting == nil, s.Facts().Manifest)
			}
			sameRecord(t, s, whole, 0)
			if err := counts(t, s, parts); err != nil {
				t.Fatal(err)
			}
			if s.Facts().Counting != nil || !slices.Equal(s.Facts().Manifest, whole.Facts().Manifest) {
				t.Fatalf("seed %d quote=%q parts=%d: manifest %q, want %q", seed, c.Quote, parts, s.Facts().Manifest, whole.Facts().Manifest)
			}
			for b := range whole.blocks.Len() {
				if got, want := s.blocks.Count(b), whole.blocks.Count(b); got != want {
					t.Fatalf("seed %d quote=%q parts=%d: block %d has %d records, want %d", seed, c.Quote, parts, b, got, want)
				}
			}
			for range 50 {
				sameRecord(t, s, whole, r.IntN(whole.Facts().Records))
			}
			s.Close()
		}
		whole.Close()
	}
}

// sameRecord compares a record of two sets.
func sameRecord(t testing.TB, s, whole *Set, i int) {
	t.Helper()
	var a, b input.Batch
	if err := s.Append(&a, i); err != nil {
		t.Fatal(err)
	}
	if err := whole.Append(&b, i); err != nil {
		t.Fatal(err)
	}
	if lineOf(&a) != lineOf(&b) {
		t.Fatalf("record %d is %.60q, want %.60q", i, lineOf(&a), lineOf(&b))
	}
}

// TestShareNotNeeded verifies that text is counted at once if it is small, compressed, or begins with
// more blanks than are read ahead, behind a header or not.
func TestShareNotNeeded(t *testing.T) {
	large := strings.Repeat(strings.Repeat("1", 1<<20)+"\n", 17)
	for name, content := range map[string]string{
		"small": "0\n1\n2\n", "blank": strings.Repeat("\n", 2<<20) + large, "header": "0\n" + strings.Repeat("\n", 2<<20) + large,
	} {
		s, err := Open(t.Context(), []string{save(t, "f", content)}, Config{Parse: collect, Share: true, Header: name != "blank"})
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(strings.TrimLeft(content, "0\n"), "\n"); s.Facts().Counting != nil || s.Facts().Records != want {
			t.Errorf("%s: counted %t, %d records, want %d", name, s.Facts().Counting == nil, s.Facts().Records, want)
		}
		s.Close()
	}
}

// TestShareOtherBytes verifies the error of a block that was read before another process counted it,
// in a file with one line more.
func TestShareOtherBytes(t *testing.T) {
	c := Config{Format: "text", Parse: collect, Share: true}
	line := strings.Repeat("1", 99) + "\n"
	text := strings.Repeat(line, 200_000)
	mine, err := Open(t.Context(), []string{save(t, "f", text)}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	if err := mine.Append(new(input.Batch), 0); err != nil {
		t.Fatal(err)
	}
	theirs, err := Open(t.Context(), []string{save(t, "g", text[:10_000]+"11\n1"+text[10_004:])}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	share, err := theirs.CountShare(t.Context(), nil, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.JoinCounts([][]byte{share}); err != nil {
		t.Fatal(err)
	}
	const want = "changed while it was read: block at byte 0 has 656 records, and had 657, unless a rank that shared the counting has another file"
	if err := mine.Append(new(input.Batch), 656); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestShareErrors verifies the errors of counts that do not fit, of a line that is too long, and of
// files that change or differ.
func TestShareErrors(t *testing.T) {
	c := Config{Format: "text", Parse: collect, Share: true}
	line := strings.Repeat("1", 1<<20-1) + "\n"
	name := save(t, "F", strings.Repeat(line, 20))
	open := func() *Set {
		s, err := Open(t.Context(), []string{name}, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	share, err := s.CountShare(t.Context(), nil, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string][]byte{
		"text: counts of part 0 of 1 end early":            share[:len(share)-1],
		"text: counts of part 0 of 1 are 1 bytes too long": append(slices.Clone(share), 0),
	} {
		if err := s.JoinCounts([][]byte{b}); err == nil || err.Error() != want || exitcode.Of(err) != exitcode.Protocol {
			t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
		}
	}

	sample, err := s.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("1111111\n"+line[8:], 20)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CountShare(t.Context(), nil, 0, 1); err == nil || !strings.Contains(err.Error(), name+" changed while it was read") {
		t.Errorf("error %v, want that the file changed", err)
	}
	other := open()
	if got, err := other.Sample(); err != nil || got == sample {
		t.Errorf("sample %#x of other bytes, error %v", got, err)
	}
	if err := other.JoinCounts([][]byte{share}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("input: %s changed while it was read: block at byte 1048576 has 2 records, and had 1, unless a rank that shared the counting has another file", name)
	if err := other.Append(new(input.Batch), 1); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}

	if err := os.Truncate(name, 128<<20); err != nil { // zero bytes, which take no room on disk
		t.Fatal(err)
	}
	want = "text: " + name + ":41: byte 20971520: line is longer than 67108864 bytes"
	if err := counts(t, open(), 3); err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want %s", err, exitcode.Of(err), want)
	}
}
