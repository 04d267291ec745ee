package main

import (
	"strings"
	"testing"
)

// TestHostID verifies that --host-id makes two hosts of 4 ranks of one machine, with the
// same digest: gradients of that size are summed in the same order on one level and on
// two.
func TestHostID(t *testing.T) {
	const two, env = `exec "$@" --host-id host$((RANK/2))`, `export RINGTRAIN_HOST_ID=host$((RANK/2)); exec "$@"`
	job := digits(10, "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
	digest := newBox(t).must(0, on(4, append(job, "--set", "allreduce.levels=flat"))...).digest(t)
	for _, script := range []string{two, env} {
		b := newBox(t)
		e := b.must(0, append([]string{"run", "-np", "4", "--json", "sh", "-c", script, "rank", self(b), "train"}, job...)...)
		start := e.only(t, "start")
		if start.num("hosts") != 2 || start.text("levels") != "two" || start.text("link") != "shm+tcp" {
			t.Errorf("%v hosts, levels %s, link %s; want 2, two, shm+tcp", start.num("hosts"), start.text("levels"), start.text("link"))
		}
		for rank := range 4 {
			if got := e.lastLine(rank); got != "digest="+digest {
				t.Errorf("script=%s: rank %d ends with %q, want the digest %s of a flat ring", script, rank, got, digest)
			}
		}
	}
}

// TestHostIDApart verifies that ranks of two machines with one host id end with an error
// that names them.
func TestHostIDApart(t *testing.T) {
	long(t)
	hosts := newHosts(t, 2, "")
	b := newBox(t).with("RINGTRAIN_HOST_ID=one")
	c := b.startArgvOnHosts(hosts, []int{0, 1}, append([]string{self(b), "train", "--start-timeout", "3s"}, inMemory()...))
	for rank, p := range c.ranks {
		if e := p.wait(); e.code != 138 || !strings.Contains(e.last(), "memory of this host") {
			t.Errorf("rank %d ended with %d and %q, want 138 and whom it has missed", rank, e.code, e.last())
		}
	}
}
