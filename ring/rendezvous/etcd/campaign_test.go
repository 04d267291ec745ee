package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/state"
)

// newTestCluster returns a worker's cluster at endpoint. isMember answers for the members.
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

// writeRecords makes a coordinator write a generation and resign.
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

// TestCampaignFresh verifies the campaign of a fresh worker with an empty journal, with one of a
// running job, of a job without live members, and of an ended job. Members campaign without asking.
func TestCampaignFresh(t *testing.T) {
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

// TestCampaignOvertaken verifies that a fresh worker does not become the coordinator if the journal
// changes while it asks the members.
func TestCampaignOvertaken(t *testing.T) {
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
