package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring"
	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/token"
)

// wholeStream is the value of RINGTRAIN_JSON for the ranks of a job that run reads.
const wholeStream = "stream"

// wholePast is wholeStream with the events of earlier attempts in front.
const wholePast = "stream, past"

// newReporter returns the reporter of this process by the options of its command.
func (a *app) newReporter(c *cli.Context, rank int) *show.Reporter {
	r := a.reporter(rank, c.Bool("json"))
	r.Quiet, r.Verbose = c.Bool("quiet"), c.Bool("verbose")
	return r
}

// reporter returns the reporter of this process.
func (a *app) reporter(rank int, json bool) *show.Reporter {
	r := a.out
	r.Rank, r.JSON, r.Stderr = rank, json || envWantsJSON(a.getenv), a.stderr
	if r.JSON {
		r.Stdout, r.People = show.Verbatim(r), a.stderr
	}
	return r
}

// showRun decides how out shows a run, by --quiet, --verbose and --progress. It draws where a person has
// started this process: mpirun and others give their ranks terminals, and write a log of them.
func (a *app) showRun(c *cli.Context, out *show.Reporter, byPerson bool) error {
	how := c.String("progress")
	switch {
	case out.Quiet && out.Verbose:
		return exitcode.With(exitcode.Usage, errors.New("--quiet and --verbose are given, want one of them"))
	case how != "auto" && how != "live" && how != "plain":
		return exitcode.With(exitcode.Usage, fmt.Errorf("--progress is %q, want auto, live or plain", how))
	case out.Whole:
		out.Watched = how == "live" // as the launcher says
	default:
		out.Watched = byPerson && !out.Verbose && show.IsTerminal(a.rawErr)
		out.Draws = how == "live" || how == "auto" && byPerson
	}
	return nil
}

// reportEnd writes err, with which a command ends, as an event if standard output has
// events. All ranks may fail in the same way: only rank 0, or a process with an unknown
// rank, reports.
func (a *app) reportEnd(cmd command, said arguments, err error) {
	if findFlag(cmd.flags, "json") == nil {
		return
	}
	rank := -1
	if findFlag(cmd.flags, "rank") != nil && !said.startsRanks() {
		if p, err := a.placeBy(said, place.Find); err == nil {
			rank = p.Rank
		} else if n, err := strconv.Atoi(said.value("rank")); err == nil {
			rank = n
		}
	}
	out := a.reporter(rank, said.switchedOn("json"))
	if rank <= 0 {
		out.Emit(show.Failure(ring.CauseOf(err, rank, show.Hostname(), -1)))
	}
}

// placeBy is findPlace for options that may be invalid. It ignores values that are not
// numbers. find is place.Find or place.Meeting.
func (a *app) placeBy(said arguments, find func(func(string) string, []string, place.Flags) (place.Place, error)) (place.Place, error) {
	number := func(name string, unset int) int {
		if n, err := strconv.Atoi(said.value(name)); err == nil {
			return n
		}
		return unset
	}
	return find(a.getenv, a.environ, place.Flags{
		Rank: number("rank", -1), WorldSize: number("world-size", 0), Rendezvous: said.value("rendezvous"),
		Listen: said.value("listen"), JobID: said.value("job-id"), HostID: said.value("host-id"),
	})
}

// reportEarly reports an error that occurred before the options were parsed, or an error of this
// rank's place, to the other ranks, as trainAt does for later errors. It ends with the job's first
// cause. If the rendezvous is unknown, the other ranks report this rank as missing.
func (a *app) reportEarly(said arguments, err error) error {
	place, fault := a.placeBy(said, place.Meeting)
	if fault != nil || cmp.Or(place.Rendezvous, place.Launcher) == "" || place.PMI != nil {
		return err
	}
	secret, fault := token.Find(a.getenv)
	if fault != nil {
		return err
	}
	meet := join.Config{Token: secret, Insecure: said.switchedOn("insecure"), Version: build.Current(version)}
	cause := ring.CauseOf(err, place.Rank, show.Hostname(), -1)
	return a.reporter(place.Rank, said.switchedOn("json")).Fail(join.Report(a.ctx, place, meet, cause))
}

// value returns the value of the last option of a name, "" if there is none.
func (a arguments) value(name string) string {
	value := ""
	for _, o := range a.options {
		if v, ok := strings.CutPrefix(o, "--"+name+"="); ok {
			value = v
		}
	}
	return value
}

// startsRanks reports whether the options make the command start ranks instead of being
// one.
func (a arguments) startsRanks() bool {
	n, _ := strconv.Atoi(cmp.Or(a.value("np"), a.value("n")))
	return n > 1 || a.value("host")+a.value("H")+a.value("hostfile")+a.value("machinefile") != ""
}
