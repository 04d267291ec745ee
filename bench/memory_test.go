package bench

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestMemory verifies that the ranks report the same memory: the arena, and only the
// growth since Before.
func TestMemory(t *testing.T) {
	const p = 2
	var all [p]Memory
	ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) (err error) {
		all[g.Membership().Rank], err = AllReduce(t.Context(), g, AllReduceConfig{Sizes: []int{8}, Iterations: 1, Before: 1}, func(Row) error { return nil })
		return err
	})
	if all[0] != all[1] || all[0].Ranks != p || all[0].Arena != batchBytes || all[0].Beyond <= 0 {
		t.Errorf("memory is %+v, want the same on both ranks and an arena of %d", all, batchBytes)
	}
	got := Memory{Ranks: 2, Arena: 16 << 20, Beyond: 8 << 20, Allocations: 0.5}.String()
	if want := "# memory of a rank: arena 16.0 MiB, beyond it 8.0 MiB (0.50 of the arena): links, group, rendezvous; 0.50 allocations a sum"; got != want {
		t.Errorf("line is %q, want %q", got, want)
	}
}

// TestOwnPages verifies that pages of files do not count and private pages do.
func TestOwnPages(t *testing.T) {
	for text, want := range map[string]string{
		"Rss: 9 kB\nPss: 8 kB\nPss_Anon:        3 kB\nPss_File: 5 kB\nPss_Shmem: 4 kB\n": "7168 true",
		"Pss: 8 kB\n":            "0 false",
		"Pss_Anon: many kB\n":    "0 false",
		"":                       "0 false",
		"Pss_Anon:  1024 kB\r\n": "1048576 true",
	} {
		n, ok := ownPages(strings.NewReader(text))
		if got := fmt.Sprint(n, " ", ok); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestFootprint verifies that the footprint includes used memory.
func TestFootprint(t *testing.T) {
	before := Footprint()
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = 1
	}
	if grown := Footprint() - before; grown < 60<<20 {
		t.Errorf("64 MiB more are %d bytes in the footprint", grown)
	}
	if held[len(held)-1] != 1 {
		t.Error("the memory must live until here")
	}
}
