package etcd

import (
	"context"
	"fmt"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// Campaign makes this worker the coordinator if there is none. The coordinator serves the
// rendezvous at addr until the journal is closed or lost is closed. A nil journal without an error
// means that another worker was faster. If addr has no host, Campaign adds the one with which this
// process reaches etcd.
//
// A worker is fresh if it is in no generation yet. If the job of the journal has ended, a fresh
// worker begins another job, and any other worker learns the end. If the job has not ended,
// Campaign returns an error to a fresh worker while a member of the last generation answers, or may
// yet answer, within 6 s.
func (c *Cluster) Campaign(ctx context.Context, addr string, fresh bool) (j journal.Journal, lost <-chan struct{}, err error) {
	if err := c.connect(); err != nil {
		return nil, nil, err
	}
	var unchanged []clientv3.Cmp
	if fresh {
		if unchanged, err = c.mayCampaign(ctx); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	lease, err := c.client.Grant(ctx, int64(leaseTime.Seconds()))
	if err != nil {
		return nil, nil, c.explain(err)
	}
	won, err := c.client.Txn(ctx).
		If(append(unchanged, clientv3.Compare(clientv3.CreateRevision(c.keys.coordinator), "=", 0))...).
		Then(clientv3.OpPut(c.keys.coordinator, c.completeAddr(addr), clientv3.WithLease(lease.ID))).Commit()
	if err != nil {
		c.revoke(lease.ID)
		return nil, nil, c.explain(err)
	}
	if !won.Succeeded {
		c.revoke(lease.ID)
		return nil, nil, nil
	}
	leader := newLeadership(c, lease.ID, won.Header.Revision)
	if err := leader.load(ctx, fresh); err != nil {
		c.revoke(lease.ID)
		return nil, nil, err
	}
	leader.wg.Go(leader.keepLease)
	return leader, leader.lost, nil
}

// revoke ends a lease. If etcd is not reached, the lease ends by itself.
func (c *Cluster) revoke(id clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	c.client.Revoke(ctx, id)
}

// completeAddr adds a host to addr if it has none: the local end of a connection to etcd, which
// others reach too. Nothing is sent for that.
func (c *Cluster) completeAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return addr
	}
	best := "127.0.0.1"
	for _, e := range c.config.Address.Endpoints {
		conn, err := net.Dial("udp", e)
		if err != nil {
			continue
		}
		ip := conn.LocalAddr().(*net.UDPAddr).IP
		conn.Close()
		if !ip.IsLoopback() {
			best = ip.String()
			break
		}
	}
	return net.JoinHostPort(best, port)
}

// load reads the journal. No other worker can write it any more.
func (l *leadership) load(ctx context.Context, fresh bool) error {
	var err error
	if l.records, _, err = l.cluster.records(ctx, l.cluster.keys); err != nil {
		return err
	}
	if n := len(l.records); n > 0 && fresh {
		if _, over := l.records[n-1].(state.EndRecord); over {
			return l.clear(ctx)
		}
	}
	return nil
}

// clear removes the journal of a job that has ended.
func (l *leadership) clear(ctx context.Context) error {
	r, err := l.cluster.client.Txn(ctx).If(l.isLeader()).Then(clientv3.OpDelete(l.cluster.keys.journal, clientv3.WithPrefix())).Commit()
	if err != nil {
		return l.cluster.explain(err)
	}
	if !r.Succeeded {
		return fmt.Errorf("%s: another worker has just become the coordinator", l.cluster.endpoints())
	}
	l.records = nil
	return nil
}
