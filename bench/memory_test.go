package bench

import (
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
