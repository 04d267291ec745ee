package cache

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringtrain/input"
)

// TestGrowing verifies that the records are the same before and after the cache is whole, and
// that of several that share a cache one makes it, while the others wait for it.
func TestGrowing(t *testing.T) {
	c, d := Config{Dir: t.TempDir(), Files: sources(t), Key: "k", Shape: draw(2, 3).shape()}, draw(2, 3)
	var all []*Growing
	for range 3 {
		all = append(all, Behind(c, d, func(line string) { t.Errorf("notice: %s", line) }))
	}
	for round := range 2 {
		for _, g := range all {
			for i := range d.Facts().Records {
				same(t, g, d, i)
			}
			if round == 0 && !made(g) {
				t.Error("no cache is made")
			}
		}
	}
	for _, g := range all {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(c.Dir, "*"))
	if len(left) != 2 { // the cache and its lock
		t.Errorf("left %q", left)
	}
}

// made waits until the cache is whole or cannot be made, and reports which.
func made(g *Growing) bool {
	<-g.Facts().Caching
	return g.Facts().Counts != nil
}

// slow is a Text that waits in each block until it may go on.
type slow struct {
	texts
	begun, hold chan struct{}
	once        *sync.Once
}

func (s slow) AppendBlock(b *input.Batch, block int, bad func(int, error)) error {
	s.once.Do(func() { close(s.begun) })
	<-s.hold
	return s.texts.AppendBlock(b, block, bad)
}

// TestGrowingCloses verifies that Close ends the making and leaves no part of a cache, and
// that a folder that cannot be written is told and no more.
func TestGrowingCloses(t *testing.T) {
	c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k"}
	s := slow{draw(0, 1), make(chan struct{}), make(chan struct{}), new(sync.Once)}
	g := Behind(c, s, func(line string) { t.Errorf("notice: %s", line) })
	<-s.begun
	g.cancel(errClosed)
	close(s.hold)
	if err := g.Close(); err != nil || made(g) {
		t.Errorf("error %v, made %t", err, made(g))
	}
	if _, err := os.Stat(c.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a cache is left: %v", err)
	}

	var told string
	c.Dir = c.Files[0] // a file
	g = Behind(c, draw(0, 1), func(line string) { told = line })
	whole := made(g)
	same(t, g, draw(0, 1), 5)
	g.Close()
	if whole || !strings.HasPrefix(told, "no cache is made, and the text is read again: input.cache: ") {
		t.Errorf("made %t, told %q", whole, told)
	}
}

// uncounted is a Text whose records are counted later.
type uncounted struct {
	texts
	input.Counting
	joined *bool
}

func (u uncounted) Facts() input.Facts {
	f := u.texts.Facts()
	if !*u.joined {
		f.Counting = u
	}
	return f
}

func (u uncounted) JoinCounts(_ [][]byte) error { *u.joined = true; return nil }

// TestGrowingWaits verifies that no cache is made before the records of the text are counted, and that
// Close does not wait for the counts.
func TestGrowingWaits(t *testing.T) {
	for _, counts := range []bool{true, false} {
		c := Config{Dir: t.TempDir(), Files: sources(t), Key: "k", Shape: draw(2, 3).shape()}
		g := Behind(c, uncounted{draw(2, 3), nil, new(bool)}, func(line string) { t.Errorf("notice: %s", line) })
		if counts {
			if err := g.Facts().Counting.JoinCounts(nil); err != nil {
				t.Fatal(err)
			}
			if !made(g) {
				t.Error("no cache is made")
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.Name()); (err == nil) != counts {
			t.Errorf("counted %t: cache: %v", counts, err)
		}
	}
}
