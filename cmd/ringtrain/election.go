package main

import (
	"cmp"

	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/etcd"
)

// election is how the workers agree on etcd who serves the rendezvous; nil where
// they need not. It must be closed. Each command has elections of its own, so that a
// job is not disturbed by its doctor.
func (a *app) election(command string, place place.Place, meet join.Config) (join.Election, error) {
	if !place.Elects() {
		return nil, nil
	}
	at, err := electionOf(command, place.Rendezvous)
	if err != nil {
		return nil, err
	}
	lease := cmp.Or(meet.Lease, rendezvous.DefaultLease)
	cluster, err := etcd.Open(etcd.Config{
		Address: at, JobID: place.JobID, User: a.getenv("RINGTRAIN_ETCD_USER"), Password: a.getenv("RINGTRAIN_ETCD_PASSWORD"),
		Token: meet.Token, Patience: lease / 2, Silence: 3 * lease, Notice: meet.Notice,
	})
	if err != nil {
		return nil, err // and no typed nil
	}
	return cluster, nil
}

// electionOf is where the workers of a command hold their elections.
func electionOf(command, address string) (etcd.Address, error) {
	at, err := etcd.ParseAddress(address)
	if err != nil {
		return etcd.Address{}, err
	}
	at.Prefix += "/" + command
	return at, nil
}
