package main

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/token"
)

// Where standard output carries events, each end with another code than 0 has one error
// event there, whatever the moment: of the rank that failed or of rank 0, of the launcher
// where rank 0 has written none, or of a command that none of both came to.

// toldError is an error that standard output has as an event, or does not take, or that is
// another rank's to tell.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// textless is an error with a code and no text, where all has been said; nil for 0.
func textless(code int) error {
	if code == exitcode.OK {
		return nil
	}
	return toldError{exitcode.With(code, errors.New(""))}
}

func isTold(err error) bool {
	_, told := errors.AsType[toldError](err)
	return told
}

// tellEnd tells err, by which a command ends, as an event, if its standard output carries
// events. Of ranks, all of which may fail so, rank 0 speaks, and who does not know which
// one it is.
func (a *app) tellEnd(cmd command, said arguments, err error) {
	if findFlag(cmd.flags, "json") == nil {
		return
	}
	rank := -1
	if findFlag(cmd.flags, "rank") != nil && !said.startsRanks() {
		if place, err := a.placeBy(said); err == nil {
			rank = place.Rank
		} else if n, err := strconv.Atoi(said.value("rank")); err == nil {
			rank = n
		}
	}
	if out := a.reporterBy(said, rank); rank <= 0 {
		out.writeJSON(failureEvent(ring.CauseOf(err, rank, hostname(), -1)))
	}
}

// reporterBy is newReporter for options that may be wrong.
func (a *app) reporterBy(said arguments, rank int) *reporter {
	json := said.switchedOn("json") || envWantsJSON(a.getenv)
	return &reporter{rank: rank, json: json, stdout: a.stdout, people: a.stderr, stderr: a.stderr}
}

// placeBy is findPlace for options that may be wrong: what is no number is passed over.
func (a *app) placeBy(said arguments) (place.Place, error) {
	number := func(name string, unset int) int {
		if n, err := strconv.Atoi(said.value(name)); err == nil {
			return n
		}
		return unset
	}
	return place.Find(a.getenv, a.environ, place.Flags{
		Rank: number("rank", -1), WorldSize: number("world-size", 0), Rendezvous: said.value("rendezvous"),
		Listen: said.value("listen"), JobID: said.value("job-id"), HostID: said.value("host-id"),
	})
}

// reportEarly tells the other ranks of a fault that this one found before it had read its
// options, as trainAt does of later ones. The first cause is what it then ends by. Where
// it is not known how to tell them, they name this rank as missing.
func (a *app) reportEarly(said arguments, err error) error {
	place, fault := a.placeBy(said)
	if fault != nil || place.Rendezvous == "" || place.PMI != nil || place.Elects() {
		return err
	}
	secret, fault := token.Find(a.getenv)
	if fault != nil {
		return err
	}
	meet := join.Config{Token: secret, Insecure: said.switchedOn("insecure"), Version: build.Own(version)}
	cause := ring.CauseOf(err, place.Rank, hostname(), -1)
	return a.reporterBy(said, place.Rank).fail(join.Report(a.ctx, place, meet, cause))
}

// ofLaunch is how a command ends that has started ranks whose standard output went by
// watch: with the event of the end, unless rank 0 has told it.
func (r *reporter) ofLaunch(res launch.Result, err error, watch *errorWatch) error {
	watch.settle(res, err)
	if err == nil && res.Code == exitcode.OK {
		return nil
	}
	if err == nil {
		err = exitcode.With(res.Code, errors.New(res.Text))
		if !watch.seen {
			r.writeJSON(failureEvent(causeOfEnd(res)))
			watch.seen = true
		}
	}
	if watch.seen {
		return toldError{err}
	}
	return err
}

// value is that of the last option of a name; "" if there is none.
func (a arguments) value(name string) string {
	value := ""
	for _, o := range a.options {
		if v, ok := strings.CutPrefix(o, "--"+name+"="); ok {
			value = v
		}
	}
	return value
}

// startsRanks tells whether the options have a command start ranks, and be none itself.
func (a arguments) startsRanks() bool {
	n, _ := strconv.Atoi(cmp.Or(a.value("np"), a.value("n")))
	return n > 1 || a.value("host")+a.value("H")+a.value("hostfile") != ""
}
