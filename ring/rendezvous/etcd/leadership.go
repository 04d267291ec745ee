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
func (j *leadership) Records() []state.Record { return j.records }

// isLeader is a condition of a transaction: this worker is the coordinator.
func (j *leadership) isLeader() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(j.cluster.keys.coordinator), "=", j.revision)
}

// Append stores r if this worker is still the coordinator. Otherwise, or if etcd is unavailable for
// longer than Config.Patience, the leadership is lost: journal.ErrSuperseded.
func (j *leadership) Append(r state.Record) error {
	body, err := journal.Marshal(r)
	if err != nil {
		return exitcode.With(exitcode.Internal, fmt.Errorf("journal: %w", err))
	}
	if j.entries < 0 {
		j.entries = len(j.records)
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.cluster.config.Patience)
	defer cancel()
	for {
		err := j.put(ctx, j.cluster.keys.entry(j.entries+1), body)
		switch {
		case err == nil:
			j.entries++
			return nil
		case errors.Is(err, journal.ErrSuperseded):
			j.lose()
			return err
		case !unavailable(err):
			return exitcode.With(exitcode.IO, j.cluster.explain(err))
		}
		timer := time.NewTimer(retryEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			j.lose()
			return fmt.Errorf("%w: %w", journal.ErrSuperseded, j.cluster.explain(err))
		}
	}
}

// put writes an entry once. If an earlier attempt wrote the entry and its answer was lost, put
// finds it.
func (j *leadership) put(ctx context.Context, key string, body []byte) error {
	r, err := j.cluster.client.Txn(ctx).
		If(j.isLeader(), clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, string(body))).
		Else(clientv3.OpGet(j.cluster.keys.coordinator), clientv3.OpGet(key)).Commit()
	if err != nil || r.Succeeded {
		return err
	}
	office, entry := r.Responses[0].GetResponseRange().Kvs, r.Responses[1].GetResponseRange().Kvs
	if len(office) == 1 && office[0].CreateRevision == j.revision && len(entry) == 1 && bytes.Equal(entry[0].Value, body) {
		return nil
	}
	return journal.ErrSuperseded
}

// keepLease renews the lease until Close, or until etcd does not know the lease. While etcd is
// unavailable it keeps trying: no other worker can become the coordinator then.
func (j *leadership) keepLease() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	var since time.Time // start of the unavailability of etcd; zero: etcd is available
	for {
		select {
		case <-j.quit:
			return
		case <-j.lost:
			return
		case <-tick.C:
		}
		err := j.renew()
		switch {
		case err == nil && !since.IsZero():
			j.cluster.notify(fmt.Sprintf("%s is back after %v", j.cluster.endpoints(), time.Since(since).Round(10*time.Millisecond)))
			since = time.Time{}
		case err == nil:
		case errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound):
			j.lose()
			return
		case since.IsZero():
			since = time.Now()
			j.cluster.notify(fmt.Sprintf("%v; training goes on without it, trying again", j.cluster.explain(err)))
		}
	}
}

func (j *leadership) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	_, err := j.cluster.client.KeepAliveOnce(ctx, j.lease)
	return err
}

func (j *leadership) lose() { j.losing.Do(func() { close(j.lost) }) }

// Close gives up the leadership, so another worker can become the coordinator at once.
func (j *leadership) Close() error {
	j.closing.Do(func() {
		close(j.quit)
		j.wg.Wait()
		j.cluster.revoke(j.lease)
	})
	return nil
}
