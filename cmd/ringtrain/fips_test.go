package main

import (
	"strconv"
	"testing"
)

// TestFIPS verifies that a job trains with the cryptography of FIPS 140 alone, also if its two ranks
// count as two hosts and so encrypt what they send to each other.
func TestFIPS(t *testing.T) {
	b := newBox(t).with("GODEBUG=fips140=on").withToken()
	job := digits(20, "--set", "allreduce.codec=none", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
	want := b.must(0, on(2, job)...).digest(t)
	port := freePorts(t, 1)[0]
	for rank, p := range b.startRanks(2, append([]string{"train"}, job...), func(rank int) []string {
		return append(rankVariables(rank, 2, port), "RINGTRAIN_HOST_ID=host-"+strconv.Itoa(rank))
	}) {
		if e := p.wait(); e.code != 0 || e.last() != "digest="+want {
			t.Errorf("rank %d ended with %d and %q, want 0 and digest=%s\n%s", rank, e.code, e.last(), want, e.stderr)
		}
	}
}
