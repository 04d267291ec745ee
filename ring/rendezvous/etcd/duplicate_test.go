package etcd

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
)

// fakeServer is the part of etcd that an election needs, in this process: keys with revisions,
// transactions, and leases that last until they are revoked.
type fakeServer struct {
	etcdserverpb.UnimplementedKVServer
	etcdserverpb.UnimplementedLeaseServer

	mu       sync.Mutex
	revision int64
	keys     map[string]*mvccpb.KeyValue
}

// newFakeServer starts a fakeServer and returns its address.
func newFakeServer(t *testing.T) (*fakeServer, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, g := &fakeServer{revision: 1, keys: map[string]*mvccpb.KeyValue{}}, grpc.NewServer()
	etcdserverpb.RegisterKVServer(g, s)
	etcdserverpb.RegisterLeaseServer(g, s)
	go g.Serve(l)
	t.Cleanup(g.Stop)
	return s, l.Addr().String()
}

func (s *fakeServer) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{Revision: s.revision}
}

// between returns the keys of a range, in order.
func (s *fakeServer) between(key, end []byte) []*mvccpb.KeyValue {
	var list []*mvccpb.KeyValue
	for _, k := range slices.Sorted(maps.Keys(s.keys)) {
		if k == string(key) || len(end) > 0 && k > string(key) && k < string(end) {
			list = append(list, s.keys[k])
		}
	}
	return list
}

func (s *fakeServer) get(r *etcdserverpb.RangeRequest) *etcdserverpb.RangeResponse {
	kvs := s.between(r.Key, r.RangeEnd)
	return &etcdserverpb.RangeResponse{Header: s.header(), Kvs: kvs, Count: int64(len(kvs))}
}

func (s *fakeServer) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(r), nil
}

func (s *fakeServer) Txn(_ context.Context, r *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	succeeded, ops := true, r.Success
	for _, c := range r.Compare { // each compares the creation revision of a key
		created := int64(0)
		if kv := s.keys[string(c.Key)]; kv != nil {
			created = kv.CreateRevision
		}
		succeeded = succeeded && created == c.GetCreateRevision()
	}
	if !succeeded {
		ops = r.Failure
	}
	s.revision++
	answer := &etcdserverpb.TxnResponse{Header: s.header(), Succeeded: succeeded}
	for _, op := range ops {
		answer.Responses = append(answer.Responses, s.do(op))
	}
	return answer, nil
}

func (s *fakeServer) do(op *etcdserverpb.RequestOp) *etcdserverpb.ResponseOp {
	switch op := op.Request.(type) {
	case *etcdserverpb.RequestOp_RequestPut:
		p := op.RequestPut
		s.keys[string(p.Key)] = &mvccpb.KeyValue{Key: p.Key, Value: p.Value, Lease: p.Lease, CreateRevision: s.revision, ModRevision: s.revision, Version: 1}
		return &etcdserverpb.ResponseOp{Response: &etcdserverpb.ResponseOp_ResponsePut{ResponsePut: &etcdserverpb.PutResponse{}}}
	case *etcdserverpb.RequestOp_RequestRange:
		return &etcdserverpb.ResponseOp{Response: &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: s.get(op.RequestRange)}}
	case *etcdserverpb.RequestOp_RequestDeleteRange:
		for _, kv := range s.between(op.RequestDeleteRange.Key, op.RequestDeleteRange.RangeEnd) {
			delete(s.keys, string(kv.Key))
		}
	}
	return &etcdserverpb.ResponseOp{Response: &etcdserverpb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: &etcdserverpb.DeleteRangeResponse{}}}
}

func (s *fakeServer) LeaseGrant(_ context.Context, r *etcdserverpb.LeaseGrantRequest) (*etcdserverpb.LeaseGrantResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	return &etcdserverpb.LeaseGrantResponse{Header: s.header(), ID: s.revision, TTL: r.TTL}, nil
}

func (s *fakeServer) LeaseRevoke(_ context.Context, r *etcdserverpb.LeaseRevokeRequest) (*etcdserverpb.LeaseRevokeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, kv := range s.keys {
		if kv.Lease == r.ID {
			delete(s.keys, k)
		}
	}
	return &etcdserverpb.LeaseRevokeResponse{Header: s.header()}, nil
}

func (s *fakeServer) LeaseKeepAlive(stream etcdserverpb.Lease_LeaseKeepAliveServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil
		}
		s.mu.Lock()
		answer := &etcdserverpb.LeaseKeepAliveResponse{Header: s.header(), ID: r.ID, TTL: 5}
		s.mu.Unlock()
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// drop removes a key, as the end of a lease does.
func (s *fakeServer) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}

// TestDuplicateRank verifies that a second process of rank 1 does not end a job whose
// coordinator has lost its key. See duplicate.
func TestDuplicateRank(t *testing.T) {
	s, addr := newFakeServer(t)
	duplicate(t, addr, s.drop, 2*time.Second)
}

// TestInteropDuplicateRank verifies the same with a real etcd, for longer than a coordinator
// waits for members.
func TestInteropDuplicateRank(t *testing.T) {
	s := newServer(t)
	c := s.worker()
	for {
		if _, err := c.Find(t.Context()); err == nil {
			break
		}
	}
	duplicate(t, s.client, func(key string) {
		if _, err := c.client.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
	}, 6*time.Second)
}

// duplicate fails if a second process of a rank becomes the coordinator of a running job without a
// coordinator's key, or ends the job, or if the members do not elect a coordinator when they need
// one.
func duplicate(t *testing.T, endpoint string, drop func(key string), lasts time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	at := Address{Endpoints: []string{endpoint}, Prefix: "test"}
	meet := func(rank int, startTimeout time.Duration) (*join.Team, error) {
		c, err := Open(Config{Address: at, JobID: "j", Patience: time.Second})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		team, err := join.Meet(ctx, place.Place{Rank: rank, WorldSize: 2, Rendezvous: at.String(), JobID: "j", Listen: "127.0.0.1:0"}, join.Config{
			Version: "v", Lease: time.Second, StartTimeout: startTimeout, Link: "tcp", Levels: "flat", Group: ring.DefaultConfig(), Election: c,
		})
		if err == nil {
			t.Cleanup(func() { team.Close() })
		}
		return team, err
	}
	onBoth := func(do func(rank int) error) {
		var wg sync.WaitGroup
		for rank := range 2 {
			wg.Go(func() {
				if err := do(rank); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	var teams [2]*join.Team
	onBoth(func(rank int) (err error) {
		teams[rank], err = meet(rank, 20*time.Second)
		return err
	})
	drop(at.keys("j").coordinator)
	ended := make(chan error)
	go func() {
		_, err := meet(1, lasts)
		ended <- err
	}()
	err := whileNobodyServes(t, at, ended)
	if err == nil || exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "job j goes on: rank ") {
		t.Errorf("the duplicate ends with %v (code %d), want that the job goes on", err, exitcode.Of(err))
	}
	onBoth(func(rank int) error { return context.Cause(teams[rank].Context()) })
	onBoth(func(rank int) error { return teams[rank].Leave(ctx) })
}

// whileNobodyServes returns the error that ends a worker. It fails the test if a coordinator appears
// earlier.
func whileNobodyServes(t *testing.T, at Address, ended <-chan error) error {
	t.Helper()
	c, err := Open(Config{Address: at, JobID: "j", Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for said := false; ; {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if addr, err := c.Find(t.Context()); addr != "" && err == nil && !said {
				t.Errorf("the duplicate at %s is the coordinator", addr)
				said = true
			}
		}
	}
}
