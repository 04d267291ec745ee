package text

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// pack writes n numbered lines to a compressed file.
func pack(t testing.TB, kind string, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "F."+kind)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w io.WriteCloser = gzip.NewWriter(f)
	if kind == "zst" {
		if w, err = zstd.NewWriter(f); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		fmt.Fprintf(w, "%d %x\n", i, r.Uint64())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// number is a parser that keeps the number that a line begins with.
func number(b *input.Batch, line []byte, _ int) error {
	v, _ := Uint(line[:len(line)+Pad])
	b.Bags(1).End()
	b.Y = append(b.Y, float32(v))
	return nil
}

// TestCompressed verifies that text of gzip and zstd has all records, in any order: in memory
// if it is short, else as a stream, which a Source reads in the order of the file.
func TestCompressed(t *testing.T) {
	for _, kind := range []string{"gz", "zst"} {
		for _, n := range []int{0, 1000, 900000} {
			s, err := Open(t.Context(), []string{pack(t, kind, n)}, Config{Parse: number})
			if err != nil {
				t.Fatal(err)
			}
			if s.Facts().Records != n || s.Facts().Sequential != (n > 1000) {
				t.Fatalf("%s: %d records, stream %t, want %d", kind, s.Facts().Records, s.Facts().Sequential, n)
			}
			if n == 0 {
				continue
			}
			var b input.Batch
			for _, i := range []int{n - 1, 0, n / 2, n/2 - 1} {
				b.Reset()
				if err := s.Append(&b, i); err != nil || b.Y[0] != float32(i) {
					t.Errorf("%s: record %d is %v, error %v", kind, i, b.Y, err)
				}
			}
			source, err := input.NewSource(t.Context(), s, input.SourceConfig{Batch: n / 10, Size: 1, Shuffle: true, Prefetch: 1, Readers: 2}, input.Position{})
			if err != nil {
				t.Fatal(err)
			}
			for batch := range 20 {
				if err := source.Next(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
				if got, want := b.Y[0], float32(batch%10*(n/10)); s.Facts().Sequential && got != want {
					t.Errorf("%s: batch %d begins with record %v, want %v", kind, batch, got, want)
				}
			}
			source.Close()
			s.Close()
		}
	}
}

// TestCompressedFaults verifies that compressed text that ends early, is damaged, inflates to
// more than it may or changes is an error that names the file.
func TestCompressedFaults(t *testing.T) {
	for _, kind := range []string{"gz", "zst"} {
		name := pack(t, kind, 5000)
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(content)
		damaged[len(damaged)/2] ^= 0xff
		for fault, bytes := range map[string][]byte{"cut": content[:len(content)/2], "damaged": damaged} {
			name := save(t, "F", string(bytes))
			if _, err := Open(t.Context(), []string{name}, Config{Parse: number}); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: error %v (%d)", kind, fault, err, exitcode.Of(err))
			}
		}
	}
	name := pack(t, "zst", 900000)
	s, err := Open(t.Context(), []string{name}, Config{Parse: number})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	os.Chtimes(name, time.Time{}, time.Now().Add(time.Hour))
	var b input.Batch
	if err := s.Append(&b, 0); err == nil || !strings.Contains(err.Error(), name+" changed while it was read") {
		t.Errorf("error %v of a file that has changed", err)
	}
}

// TestBomb verifies that 1 MiB of zstd that inflates to more than it may is refused, and that
// no more memory is taken than a window.
func TestBomb(t *testing.T) {
	name := filepath.Join(t.TempDir(), "F")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := zstd.NewWriter(f)
	line := []byte("1 " + strings.Repeat(" ", 1<<20) + "\n")
	for range 80 {
		w.Write(line)
	}
	w.Close()
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Open(t.Context(), []string{name}, Config{Parse: number})
	runtime.ReadMemStats(&after)
	if exitcode.Of(err) != exitcode.BadData || !strings.Contains(fmt.Sprint(err), "input.max_inflate") {
		t.Errorf("error %v (%d)", err, exitcode.Of(err))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 96<<20 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
}
