package remote

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// memory is a source whose objects have one content.
type memory string

func (m memory) open(_ context.Context, _ *object, from, to int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(m[from:to]))), nil
}

// BenchmarkFiles copies a large object, and many small ones, from memory.
func BenchmarkFiles(b *testing.B) {
	for _, shape := range []struct{ objects, bytes int }{{1, 64 << 20}, {1000, 20}} {
		b.Run(fmt.Sprintf("objects=%d", shape.objects), func(b *testing.B) {
			from := memory(strings.Repeat("x", shape.bytes))
			b.SetBytes(int64(shape.objects * shape.bytes))
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				s := New(Config{Dir: dir})
				for i := range shape.objects {
					key := fmt.Sprint("b/", i)
					s.known["s3://b"] = append(s.known["s3://b"], &object{url: key, id: key, path: key, size: int64(shape.bytes), from: from})
				}
				b.StartTimer()
				if _, err := s.Files(b.Context(), "s3://b"); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
