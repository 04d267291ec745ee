package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// Times of a coordinator.
const (
	renewEvery = 1 * time.Second        // of the lease
	retryEvery = 100 * time.Millisecond // between attempts to write an entry
)

// leadership is the journal of the coordinator in the cluster, together with the coordinator's key.
type leadership struct {
	cluster  *Cluster
	lease    clientv3.LeaseID
	revision int64 // creation revision of the coordinator's key: the fencing token
	records  []state.Record
	entries  int           // number of entries; only Append uses it
	lost     chan struct{} // closed when the leadership is lost or given up
	losing   sync.Once

	closing sync.Once
	quit    chan struct{}
	wg      sync.WaitGroup
}

func newLeadership(c *Cluster, lease clientv3.LeaseID, revision int64) *leadership {
	return &leadership{cluster: c, lease: lease, revision: revision, entries: -1, lost: make(chan struct{}), quit: make(chan struct{})}
}

// Records returns the records that were stored before.
func (l *leadership) Records() []state.Record { return l.records }

// isLeader is a condition of a transaction: this worker is the coordinator.
func (l *leadership) isLeader() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(l.cluster.keys.coordinator), "=", l.revision)
}

// Append stores r if this worker is still the coordinator. Otherwise, or if etcd is unavailable for
// longer than Config.Patience, the leadership is lost: journal.ErrSuperseded.
func (l *leadership) Append(r state.Record) error {
	body, err := journal.Marshal(r)
	if err != nil {
		return exitcode.With(exitcode.Internal, fmt.Errorf("journal: %w", err))
	}
	if l.entries < 0 {
		l.entries = len(l.records)
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.cluster.config.Patience)
	defer cancel()
	for {
		err := l.put(ctx, l.cluster.keys.entry(l.entries+1), body)
		switch {
		case err == nil:
			l.entries++
			return nil
		case errors.Is(err, journal.ErrSuperseded):
			l.lose()
			return err
		case !unavailable(err):
			return exitcode.With(exitcode.IO, l.cluster.explain(err))
		}
		timer := time.NewTimer(retryEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			l.lose()
			return fmt.Errorf("%w: %w", journal.ErrSuperseded, l.cluster.explain(err))
		}
	}
}

// put writes an entry once. If an earlier attempt wrote the entry and its answer was lost, put
// finds it.
func (l *leadership) put(ctx context.Context, key string, body []byte) error {
	r, err := l.cluster.client.Txn(ctx).
		If(l.isLeader(), clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, string(body))).
		Else(clientv3.OpGet(l.cluster.keys.coordinator), clientv3.OpGet(key)).Commit()
	if err != nil || r.Succeeded {
		return err
	}
	leader, entry := r.Responses[0].GetResponseRange().Kvs, r.Responses[1].GetResponseRange().Kvs
	if len(leader) == 1 && leader[0].CreateRevision == l.revision && len(entry) == 1 && bytes.Equal(entry[0].Value, body) {
		return nil
	}
	return journal.ErrSuperseded
}

// keepLease renews the lease until Close, or until etcd does not know the lease. While etcd is
// unavailable it keeps trying: no other worker can become the coordinator then.
func (l *leadership) keepLease() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	var since time.Time // start of the unavailability of etcd; zero: etcd is available
	for {
		select {
		case <-l.quit:
			return
		case <-l.lost:
			return
		case <-tick.C:
		}
		err := l.renew()
		switch {
		case err == nil && !since.IsZero():
			l.cluster.notify(fmt.Sprintf("%s is back after %v", l.cluster.endpoints(), time.Since(since).Round(10*time.Millisecond)))
			since = time.Time{}
		case err == nil:
		case errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound):
			l.lose()
			return
		case since.IsZero():
			since = time.Now()
			l.cluster.notify(fmt.Sprintf("%v; training goes on without it, trying again", l.cluster.explain(err)))
		}
	}
}

func (l *leadership) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	_, err := l.cluster.client.KeepAliveOnce(ctx, l.lease)
	return err
}

func (l *leadership) lose() { l.losing.Do(func() { close(l.lost) }) }

// Close gives up the leadership, so another worker can become the coordinator at once.
func (l *leadership) Close() error {
	l.closing.Do(func() {
		close(l.quit)
		l.wg.Wait()
		l.cluster.revoke(l.lease)
	})
	return nil
}
