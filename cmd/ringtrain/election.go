package main

import (
	"cmp"

	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/etcd"
)

// election returns the election of the coordinator on etcd, nil without etcd. The caller
// must close it. Each command has its own elections, so that a doctor does not disturb
// its job.
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
		return nil, err // not a typed nil
	}
	return cluster, nil
}

// electionOf returns the etcd address of the elections of a command.
func electionOf(command, address string) (etcd.Address, error) {
	at, err := etcd.ParseAddress(address)
	if err != nil {
		return etcd.Address{}, err
	}
	at.Prefix += "/" + command
	return at, nil
}
