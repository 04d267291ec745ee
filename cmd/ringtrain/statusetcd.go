package main

import (
	"context"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/etcd"
)

// follow returns how to look at the jobs that meet on etcd, whoever of their workers
// serves the rendezvous.
func (a *app) follow(addr, jobID string, token ring.Token) (func(context.Context) (looker, error), error) {
	at, err := electionOf("train", addr)
	if err != nil {
		return nil, err
	}
	f, err := etcd.Follow(etcd.FollowConfig{
		Address: at, JobID: jobID, User: a.getenv("RINGTRAIN_ETCD_USER"), Password: a.getenv("RINGTRAIN_ETCD_PASSWORD"), Token: token,
		Notice: func(text string) { fmt.Fprintln(a.stderr, text) },
	})
	if err != nil {
		return nil, err
	}
	return func(context.Context) (looker, error) { return f, nil }, nil
}
