package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// store is an etcd without a network. Each request takes a set time.
type store struct {
	clientv3.KV // panics for other requests
	slow        time.Duration
	keys        []string // sorted
	values      map[string]string
}

// take waits for the time of one request.
func (s *store) take(ctx context.Context) error {
	select {
	case <-time.After(s.slow):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *store) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return s.answer(clientv3.OpGet(key, opts...)), s.take(ctx)
}

// answer returns a page of the keys of a range, or one key and its value.
func (s *store) answer(op clientv3.Op) *clientv3.GetResponse {
	r := &clientv3.GetResponse{}
	from, found := slices.BinarySearch(s.keys, string(op.KeyBytes()))
	to := from
	switch end := op.RangeBytes(); {
	case end != nil:
		to, _ = slices.BinarySearch(s.keys, string(end))
		r.More = to-from > pageKeys
		to = min(to, from+pageKeys)
	case found:
		to++
	}
	for _, key := range s.keys[from:to] {
		kv := &mvccpb.KeyValue{Key: []byte(key)}
		if !op.IsKeysOnly() {
			kv.Value = []byte(s.values[key])
		}
		r.Kvs = append(r.Kvs, kv)
	}
	return r
}

func (s *store) Txn(ctx context.Context) clientv3.Txn { return &fakeTxn{store: s, ctx: ctx} }

// fakeTxn is a transaction that only reads.
type fakeTxn struct {
	clientv3.Txn
	store *store
	ctx   context.Context
	asks  []clientv3.Op
}

func (r *fakeTxn) Then(asks ...clientv3.Op) clientv3.Txn {
	r.asks = asks
	return r
}

func (r *fakeTxn) Commit() (*clientv3.TxnResponse, error) {
	if len(r.asks) > 128 {
		return nil, errors.New("too many operations in txn request")
	}
	all := &clientv3.TxnResponse{}
	for _, ask := range r.asks {
		page := r.store.answer(ask)
		all.Responses = append(all.Responses, &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{ResponseRange: (*pb.RangeResponse)(page)}})
	}
	return all, r.store.take(r.ctx)
}

// put stores a value.
func (s *store) put(key, value string) {
	s.keys = append(s.keys, key)
	s.values[key] = value
}

var below = Address{Endpoints: []string{"127.0.0.1:1"}, Prefix: "p"}

// newStore returns a store of jobs with a coordinator each, and of a long journal of another job.
func newStore(jobs, journal int) *store {
	s := &store{slow: 10 * time.Millisecond, values: map[string]string{}}
	for i := range jobs {
		s.put(below.keys(fmt.Sprintf("job%04d", i)).coordinator, fmt.Sprintf("h:%d", i+1))
	}
	for i := range journal {
		s.put(below.keys("ended").entry(i+1), "")
	}
	slices.Sort(s.keys)
	return s
}

func (s *store) reader(jobID string) *keyReader {
	return &keyReader{&Cluster{config: Config{Address: below}, client: &clientv3.Client{KV: s}}, jobID}
}

// TestCoordinatorsAll verifies that all jobs below a prefix are found with 10 ms for each request,
// or that the error says that there are too many keys.
func TestCoordinatorsAll(t *testing.T) {
	const tooMany = "etcd at 127.0.0.1:1: too many keys below p to find all jobs: add --job-id ID"
	for _, tt := range []struct {
		jobs, journal int
		slow          time.Duration
		want          string
	}{
		{jobs: 0, journal: 0},
		{jobs: 1, journal: 5},
		{jobs: maxGets + 1, journal: pageKeys},
		{jobs: 300, journal: 20 * pageKeys},
		{jobs: maxJobs, journal: maxKeys - maxJobs},
		{jobs: maxJobs + 1, journal: 0, want: tooMany},
		{jobs: 1, journal: maxKeys, want: tooMany},
		{jobs: 1, journal: 2 * pageKeys, slow: time.Second, want: tooMany},
	} {
		t.Run(fmt.Sprintf("jobs=%d/journal=%d/slow=%v", tt.jobs, tt.journal, tt.slow), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(tt.jobs, tt.journal)
				s.slow = max(s.slow, tt.slow)
				list, err := s.reader("").coordinators(t.Context())
				switch {
				case tt.want != "":
					if err == nil || err.Error() != tt.want {
						t.Errorf("%d coordinators, error %v, want %q", len(list), err, tt.want)
					}
					return
				case err != nil || len(list) != tt.jobs:
					t.Fatalf("%d coordinators, error %v, want %d", len(list), err, tt.jobs)
				}
				for i, got := range list {
					if want := (coordinator{fmt.Sprintf("job%04d", i), fmt.Sprintf("h:%d", i+1)}); got != want {
						t.Fatalf("coordinator %d is %v, want %v", i, got, want)
					}
				}
			})
		})
	}
}

// TestCoordinatorsForeign verifies that an invalid value in a coordinator's key does not hide other
// jobs, and is an error for a client that asks for that job.
func TestCoordinatorsForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(1, 0)
		s.put(below.keys("other").coordinator, "elsewhere")
		s.put(below.keys("z").coordinator, "z:1")
		want := []coordinator{{"job0000", "h:1"}, {"z", "z:1"}}
		if got, err := s.reader("").coordinators(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("coordinators %v, error %v, want %v", got, err, want)
		}
		if got, err := s.reader("z").coordinators(t.Context()); err != nil || !slices.Equal(got, want[1:]) {
			t.Errorf("coordinators %v, error %v, want that of z", got, err)
		}
		if got, err := s.reader("other").coordinators(t.Context()); err == nil || !strings.Contains(err.Error(), `key "p/other/coordinator"`) {
			t.Errorf("coordinators %v, error %v, want the key named", got, err)
		}
	})
}
