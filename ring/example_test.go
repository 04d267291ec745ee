package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
)

// onRanks calls fn once per rank, each on a goroutine with its group over links in memory.
func onRanks(size int, fn func(g *ring.Group) error) {
	workers := make([]ring.Worker, size)
	for rank := range workers {
		workers[rank] = ring.Worker{Rank: rank, HostID: "host"}
	}
	var running sync.WaitGroup
	for rank, link := range memlink.Ring(size) {
		running.Go(func() {
			m := ring.Membership{JobID: "example", Generation: 1, Rank: rank, Workers: workers}
			g, err := ring.New(context.Background(), m, ring.Transport{Ring: link}, ring.DefaultConfig())
			if err == nil {
				err = fn(g)
				g.Close()
			}
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	running.Wait()
}

// Three ranks sum their gradients. All of them hold the same sum.
func ExampleGroup_AllReduce() {
	sums := make([][]float32, 3)
	onRanks(3, func(g *ring.Group) error {
		rank := g.Membership().Rank
		gradients := []float32{float32(rank), 1, 0.5}
		sums[rank] = gradients
		return g.AllReduce(context.Background(), ring.Reduction{Buf: gradients})
	})
	fmt.Println(sums)
	// Output: [[3 3 1.5] [3 3 1.5] [3 3 1.5]]
}

// Three ranks tell each other something of any length.
func ExampleGroup_AllGather() {
	var all ring.Gathered // of rank 0; a caller keeps it from one operation to the next
	onRanks(3, func(g *ring.Group) error {
		rank := g.Membership().Rank
		mine := strings.Repeat("ab", rank)
		var theirs ring.Gathered
		err := g.AllGather(context.Background(), []byte(mine), &theirs)
		if rank == 0 {
			all = theirs
		}
		return err
	})
	for rank := range 3 {
		fmt.Printf("rank %d: %q\n", rank, all.At(rank))
	}
	// Output:
	// rank 0: ""
	// rank 1: "ab"
	// rank 2: "abab"
}

// Rank 1 sends a stream to the others.
func ExampleGroup_Broadcast() {
	const root = 1
	var got [3]bytes.Buffer
	onRanks(3, func(g *ring.Group) error {
		rank := g.Membership().Rank
		source := strings.NewReader("initial weights")
		return g.Broadcast(context.Background(), root, source, &got[rank])
	})
	fmt.Printf("%q %q\n", got[0].String(), got[2].String())
	// Output: "initial weights" "initial weights"
}

// Two ranks sum rows of a table of a million rows. Each passes only the rows that it has.
func ExampleRowSum() {
	mine := [][]uint32{{2, 5, 900_000}, {5, 7}}
	onRanks(2, func(g *ring.Group) error {
		rank := g.Membership().Rank
		s, err := g.NewRowSum(context.Background(), []ring.Table{{Rows: 1_000_000, Width: 1}})
		if err != nil {
			return err
		}
		ids, values := s.Input(0, len(mine[rank]))
		copy(ids, mine[rank])
		for i := range values {
			values[i] = float32(rank + 1)
		}
		if err := g.SumRows(context.Background(), s, nil, nil); err != nil {
			return err
		}
		for piece := range s.Pieces() {
			if ids, values := s.Result(0, piece); rank == 0 {
				fmt.Println(ids, values)
			}
		}
		return nil
	})
	// Output: [2 5 7 900000] [1 3 2 1]
}
