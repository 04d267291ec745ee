package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/state"
)

// shelved is a worker's view of a shelf, whose members are asked by isMember.
func newTestCluster(t *testing.T, endpoint string, isMember func(context.Context, ring.Worker) (bool, error)) *Cluster {
	t.Helper()
	c, err := Open(Config{Address: Address{Endpoints: []string{endpoint}, Prefix: "test"}, JobID: "j", Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.members.isMember = isMember
	return c
}

// leave has a coordinator keep a generation, and lose its office.
func writeRecords(t *testing.T, c *Cluster, more ...state.Record) {
	t.Helper()
	j, _, err := c.Campaign(t.Context(), "127.0.0.1:1", false)
	if j == nil {
		t.Fatalf("nobody serves, and it is not won: %v", err)
	}
	for _, r := range more {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
}

// TestWinFresh verifies what a fresh worker finds in a journal: nothing, a job that goes
// on, one of which nobody is left, and one that has ended. Members ask nobody.
func TestWinFresh(t *testing.T) {
	_, endpoint := newFakeServer(t)
	n, members := newFakeMembers("member", "gone")
	c := newTestCluster(t, endpoint, n.isMember)
	wins := func(fresh, want bool, records int) {
		t.Helper()
		j, _, err := c.Campaign(t.Context(), "127.0.0.1:2", fresh)
		if (j != nil) != want || (err == nil) != want {
			t.Fatalf("fresh %v: won %v, %v; want %v", fresh, j != nil, err, want)
		}
		if j != nil {
			if got := len(j.Records()); got != records {
				t.Errorf("fresh %v: %d records, want %d", fresh, got, records)
			}
			j.Close()
		} else if !strings.Contains(err.Error(), "job j goes on: rank 0 at h0:1 answers") {
			t.Errorf("error %v, want who answers", err)
		}
	}
	wins(true, true, 0)
	two := jobRecord
	two.WorldSize = 2
	writeRecords(t, c, two, state.GenerationRecord{Generation: 1, Workers: members})
	wins(true, false, 0)
	wins(false, true, 2)
	n.set("h0:1", "gone")
	wins(true, true, 2)
	n.set("h0:1", "member")
	writeRecords(t, c, state.EndRecord{})
	wins(true, true, 0)
}

// TestWinOvertaken has the journal change while a fresh worker asks its members. It fails
// if that worker becomes the coordinator by what it has read before.
func TestWinOvertaken(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *Cluster){
		"journal=goes on": func(t *testing.T, c *Cluster) { writeRecords(t, c, lossOne) },
		"journal=anew": func(t *testing.T, c *Cluster) {
			writeRecords(t, c, state.EndRecord{})
			j, _, err := c.Campaign(t.Context(), "127.0.0.1:3", true)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []state.Record{jobRecord, firstGen} {
				if err := j.Append(r); err != nil {
					t.Fatal(err)
				}
			}
			j.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, endpoint := newFakeServer(t)
			n, members := newFakeMembers("gone")
			other := newTestCluster(t, endpoint, n.isMember)
			writeRecords(t, other, jobRecord, state.GenerationRecord{Generation: 1, Workers: members})
			late := newTestCluster(t, endpoint, func(ctx context.Context, w ring.Worker) (bool, error) {
				change(t, other)
				return n.isMember(ctx, w)
			})
			if j, _, err := late.Campaign(t.Context(), "127.0.0.1:2", true); j != nil || err != nil {
				t.Errorf("won %v, %v, want that another was faster", j != nil, err)
			}
		})
	}
}
