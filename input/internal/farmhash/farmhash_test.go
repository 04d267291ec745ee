package farmhash

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"testing"
)

// TestTensorFlow verifies the fingerprints of texts of 0 to 300 bytes, and of longer ones,
// against real TensorFlow's hash buckets; testdata/make_fingerprints.py wrote them. Each text
// is the middle of a longer one: nothing beyond it may count.
func TestTensorFlow(t *testing.T) {
	f, err := os.Open("testdata/fingerprints.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lengths := map[int]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var written string
		var a, b uint64
		if _, err := fmt.Sscan(lines.Text(), &written, &a, &b); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if written == "-" {
			written = ""
		}
		text, err := hex.DecodeString("5a5a5a5a5a5a5a" + written + "a5a5a5a5a5a5a5")
		if err != nil {
			t.Fatal(err)
		}
		text = text[7 : len(text)-7]
		lengths[len(text)] = true
		if got := Fingerprint64(text); got%(1<<63-1) != a || got%(1<<63-25) != b {
			t.Errorf("%d bytes: fingerprint %#x, want it %d modulo 2⁶³−1 and %d modulo 2⁶³−25", len(text), got, a, b)
		}
	}
	if err := lines.Err(); err != nil || len(lengths) < 301 {
		t.Errorf("%d lengths, error %v; want 0 to 300 and more", len(lengths), err)
	}
}

// TestAllocations verifies that Fingerprint64 allocates nothing.
func TestAllocations(t *testing.T) {
	text := make([]byte, 300)
	var sum uint64
	n := testing.AllocsPerRun(100, func() {
		for i := range text {
			sum += Fingerprint64(text[:i])
		}
	})
	if n != 0 {
		t.Errorf("%g allocations, want 0 (sum %d)", n, sum)
	}
}

func BenchmarkFingerprint64(b *testing.B) {
	text := make([]byte, 4096)
	for _, n := range []int{2, 8, 20, 50, 100, 300, 4096} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			sum := uint64(0)
			for b.Loop() {
				text[0]++
				sum += Fingerprint64(text[:n])
			}
			_ = sum
		})
	}
}
