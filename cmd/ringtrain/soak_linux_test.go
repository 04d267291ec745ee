package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestL1Soak trains for a million steps on 20 ranks (make soak), and for fewer in make
// cases. It verifies that threads, goroutines, files and memory stay flat.
func TestL1Soak(t *testing.T) {
	onlyInCases(t)
	steps := 50_000
	if n, err := strconv.Atoi(os.Getenv("RINGTRAIN_SOAK")); err == nil {
		steps = n
	}
	const ranks = 20
	b := newBox(t).lasting(2 * time.Hour)
	p := b.start(append([]string{"run", "-np", strconv.Itoa(ranks)}, longLinear(steps)...)...)
	at := func(percent int) {
		p.await(fmt.Sprintf(`"step":%d,`, steps*percent/100/1000*1000))
	}
	at(10)
	first := b.goroutines(p, ranks)
	watched := make(chan *series)
	go func() { watched <- b.watch(p) }()
	at(90)
	last := b.goroutines(p, ranks)
	for rank := range ranks {
		if first[rank] == 0 || last[rank] > first[rank]+2 {
			t.Errorf("rank %d has %d goroutines after a tenth of the steps, %d after nine, want 2 more at most", rank, first[rank], last[rank])
		}
	}
	s := <-watched
	e := p.wait()
	if e.code != 0 || e.digest(t) != longAlone(t, steps) {
		t.Fatalf("ended with %d", e.code)
	}
	s.wantFlat(t, float64(steps))
	t.Logf("%d steps in %v s; rank 0 has %d, then %d goroutines", steps, e.only(t, "done")["took_s"], first[0], last[0])
}
