package joblist

import (
	"context"
	"slices"
	"sync"
	"time"

	"ringtrain/ring/rendezvous"
)

// localTimeout bounds the wait for a rendezvous on this host, while others are asked in
// parallel.
const localTimeout = 2 * time.Second

// A Job is a job whose rendezvous runs in a process of this user on this host.
type Job struct {
	Entry
	Status rendezvous.Status
	Err    error // the rendezvous does not answer; only the entry is known
}

// Jobs returns the job with an id, or with "" all jobs, of all rendezvous of this
// user on this host. It reports unreadable listings to notice.
func Jobs(ctx context.Context, id string, notice func(string)) []Job {
	list, faults := Read()
	for _, err := range faults {
		notice(err.Error())
	}
	answers := make([][]Job, len(list))
	var asking sync.WaitGroup
	for i, l := range list {
		asking.Go(func() { answers[i] = askRendezvous(ctx, l, id) })
	}
	asking.Wait()
	all := slices.Concat(answers...)
	slices.SortStableFunc(all, func(x, y Job) int { return x.Since.Compare(y.Since) })
	return all
}

// askRendezvous asks one rendezvous.
func askRendezvous(ctx context.Context, l Entry, id string) []Job {
	at, err := rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: l.Address, Token: l.Token, JobID: id, Timeout: localTimeout})
	if err != nil {
		return []Job{{Entry: l, Err: err}}
	}
	defer at.Close()
	all, err := at.Next(ctx)
	if err != nil {
		return []Job{{Entry: l, Err: err}}
	}
	jobs := make([]Job, len(all))
	for i, s := range all {
		jobs[i] = Job{Entry: l, Status: s}
	}
	return jobs
}
