package launch

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
)

// TestRedialTimeout verifies that a lost host has 5 s to answer again, as the manual says.
func TestRedialTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &launcher{
			config:      &Config{Hosts: []hosts.Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}},
			assignments: []hosts.Assignment{{Host: 0}, {Host: 1}}, done: make(chan struct{}),
		}
		r := &l.failover
		r.init(t.Context())
		r.dialer = &dialer{turns: make(chan struct{})} // no login starts
		r.unplaced[1] = process.Ending{Rank: 1}
		began := time.Now()
		if err := l.failover.retryHost(l, 1); err != nil {
			t.Fatal(err)
		}
		o := <-r.results
		if took := time.Since(began); took != 5*time.Second || o.err == nil || !strings.Contains(o.err.Error(), "no answer in 5s") || o.target.name != "b" {
			t.Errorf("after %v: host %s: %v, want no answer of host b in 5s", took, o.target.name, o.err)
		}
		r.dials.Wait()
	})
}
