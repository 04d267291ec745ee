package main

import (
	"context"
	"fmt"

	"ringtrain/ring/rendezvous/etcd"
	"ringtrain/ring/token"
)

// follow returns a function that opens the status of the jobs on etcd, whichever worker
// is the coordinator.
func (a *app) follow(addr, jobID string, secret token.Token) (func(context.Context) (statusSource, error), error) {
	at, err := electionOf("train", addr)
	if err != nil {
		return nil, err
	}
	f, err := etcd.Follow(etcd.FollowConfig{
		Address: at, JobID: jobID, User: a.getenv("RINGTRAIN_ETCD_USER"), Password: a.getenv("RINGTRAIN_ETCD_PASSWORD"), Token: secret,
		Notice: func(text string) { fmt.Fprintln(a.stderr, text) },
	})
	if err != nil {
		return nil, err
	}
	return func(context.Context) (statusSource, error) { return f, nil }, nil
}
