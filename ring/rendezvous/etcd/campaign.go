package etcd

import (
	"context"
	"fmt"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// Win makes this worker the coordinator, which serves the rendezvous at addr, if
// there is none: until the journal is closed, or lost is. Without an error, a nil
// journal means that another was faster. A host that addr lacks is completed by the
// one under which this process speaks to etcd.
//
// If the job of the journal has ended, a worker that is fresh, which is of no
// generation yet, begins another; one that is not learns of the end. If the job has not
// ended, a fresh worker does not campaign while a member of its last generation answers,
// or may yet: that is an error, in 6 s at most.
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
	o := newLeadership(c, lease.ID, won.Header.Revision)
	if err := o.load(ctx, fresh); err != nil {
		c.revoke(lease.ID)
		return nil, nil, err
	}
	o.wg.Go(o.keepLease)
	return o, o.lost, nil
}

// revoke ends a lease as far as etcd is there; else its time does.
func (c *Cluster) revoke(id clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	c.client.Revoke(ctx, id)
}

// reachable completes addr by the host that others see of this one: the local end
// of the way to etcd. Nothing is sent for that.
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

// load reads the journal. Nobody else can write it any more.
func (j *leadership) load(ctx context.Context, fresh bool) error {
	var err error
	if j.records, _, err = j.cluster.records(ctx, j.cluster.keys); err != nil {
		return err
	}
	if n := len(j.records); n > 0 && fresh {
		if _, over := j.records[n-1].(state.EndRecord); over {
			return j.clear(ctx)
		}
	}
	return nil
}

// clear removes the journal of a job that has ended.
func (j *leadership) clear(ctx context.Context) error {
	r, err := j.cluster.client.Txn(ctx).If(j.isLeader()).Then(clientv3.OpDelete(j.cluster.keys.journal, clientv3.WithPrefix())).Commit()
	if err != nil {
		return j.cluster.explain(err)
	}
	if !r.Succeeded {
		return fmt.Errorf("%s: another worker has just become the coordinator", j.cluster.endpoints())
	}
	j.records = nil
	return nil
}
