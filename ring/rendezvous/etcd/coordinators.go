package etcd

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
)

// Bounds of a search for jobs.
const (
	pageKeys = 1000
	maxKeys  = 100 * pageKeys
	maxJobs  = 1000
	maxGets  = 100 // in one transaction; etcd's default limit is 128
)

// coordinator is the coordinator of one job.
type coordinator struct {
	jobID string
	addr  string // host:port
}

// keyReader reads the coordinators' keys below the prefix of an Address. It writes nothing.
type keyReader struct {
	cluster *Cluster // without a job
	jobID   string   // "": all jobs
}

// coordinators returns the coordinators, in order of their keys. It takes 4 s at most, as Find
// does.
func (r *keyReader) coordinators(ctx context.Context) ([]coordinator, error) {
	c := r.cluster
	if err := c.connect(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if r.jobID == "" {
		return r.all(ctx)
	}
	addr, err := c.coordinatorAt(ctx, c.config.Address.keys(r.jobID).coordinator)
	if err != nil || addr == "" {
		return nil, err
	}
	return []coordinator{{r.jobID, addr}}, nil
}

// all returns the coordinators of all jobs. It ignores other keys below the prefix.
func (r *keyReader) all(ctx context.Context) ([]coordinator, error) {
	jobs, err := r.jobsWithCoordinator(ctx)
	if err != nil {
		return nil, err
	}
	var list []coordinator
	for some := range slices.Chunk(jobs, maxGets) {
		asks := make([]clientv3.Op, len(some))
		for i, id := range some {
			asks[i] = clientv3.OpGet(r.cluster.config.Address.keys(id).coordinator)
		}
		answers, err := r.cluster.client.Txn(ctx).Then(asks...).Commit()
		if err != nil {
			return nil, r.cluster.explain(err)
		}
		if n := len(answers.Responses); n != len(asks) {
			return nil, fmt.Errorf("%s: %d answers to %d questions", r.cluster.endpoints(), n, len(asks))
		}
		for i, a := range answers.Responses {
			addr, err := r.cluster.coordinatorAddr(a.GetResponseRange().GetKvs())
			if err == nil && addr != "" {
				list = append(list, coordinator{some[i], addr})
			}
		}
	}
	return list, nil
}

// jobsWithCoordinator returns all jobs that have a coordinator. It returns an error if there are
// too many keys or too little time to find all.
func (r *keyReader) jobsWithCoordinator(ctx context.Context) ([]string, error) {
	base := r.cluster.config.Address.Prefix + "/"
	end := clientv3.GetPrefixRangeEnd(base)
	var jobs []string
	for from, n := base, 0; n < maxKeys; n += pageKeys {
		page, err := r.cluster.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageKeys), clientv3.WithKeysOnly())
		switch {
		case err != nil && n > 0 && ctx.Err() != nil:
			return nil, r.tooMany() // etcd answered, page by page
		case err != nil:
			return nil, r.cluster.explain(err)
		}
		for _, kv := range page.Kvs {
			if id, ok := jobOf(string(kv.Key), base); ok {
				jobs = append(jobs, id)
			}
		}
		switch {
		case len(jobs) > maxJobs:
			return nil, r.tooMany()
		case !page.More || len(page.Kvs) == 0:
			return jobs, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
	return nil, r.tooMany()
}

func (r *keyReader) tooMany() error {
	return fmt.Errorf("%s: too many keys below %s to find all jobs: add --job-id ID", r.cluster.endpoints(), r.cluster.config.Address.Prefix)
}

// jobOf returns the job of a coordinator's key.
func jobOf(key, base string) (id string, ok bool) {
	escaped, ok := strings.CutSuffix(strings.TrimPrefix(key, base), "/coordinator")
	if !ok || strings.Contains(escaped, "/") {
		return "", false
	}
	id, err := url.PathUnescape(escaped)
	return id, err == nil && id != ""
}

// jobEnded reports whether the journal of a job has its end. It takes 4 s at most.
func (r *keyReader) jobEnded(ctx context.Context, jobID string) (bool, error) {
	c := r.cluster
	if err := c.connect(); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	records, _, err := c.records(ctx, c.config.Address.keys(jobID))
	if err != nil || len(records) == 0 {
		return false, err
	}
	_, ended := records[len(records)-1].(state.EndRecord)
	return ended, nil
}

// records returns the records of a job's journal and the revision of its first entry, 0 without an
// entry.
func (c *Cluster) records(ctx context.Context, k keys) (records []state.Record, first int64, err error) {
	r, err := c.client.Get(ctx, k.journal, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
	if err != nil {
		return nil, 0, c.explain(err)
	}
	var bodies [][]byte
	for i, kv := range r.Kvs {
		if want := k.entry(i + 1); string(kv.Key) != want {
			return nil, 0, exitcode.With(exitcode.BadData, fmt.Errorf("journal in %s: key %s, want %s", c.endpoints(), kv.Key, want))
		}
		bodies, first = append(bodies, kv.Value), r.Kvs[0].CreateRevision
	}
	records, err = journal.Unmarshal(bodies)
	if err != nil {
		return nil, 0, exitcode.With(exitcode.BadData, fmt.Errorf("journal %s in %s: %w; `etcdctl del --prefix %s` lets the job begin anew", k.journal, c.endpoints(), err, k.journal))
	}
	return records, first, nil
}

func (r *keyReader) close() { r.cluster.Close() }
