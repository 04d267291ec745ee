package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// TestResident verifies that a cache just made is held in memory, and that a file without one
// of its pages is not.
func TestResident(t *testing.T) {
	d := draw(0, 3)
	if s := mustMake(t, Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}, d); !s.facts.InMemory {
		t.Error("a cache just made is not held in memory")
	}
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "hole")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, part := range []struct {
		at   int64
		want bool
	}{{size / 2, false}, {0, true}} {
		if _, err := f.WriteAt(make([]byte, size/2), part.at); err != nil {
			t.Fatal(err)
		}
		if got := resident(f, size); got != part.want {
			t.Errorf("bytes written from %d on: held in memory %v, want %v", part.at, got, part.want)
		}
	}
}
