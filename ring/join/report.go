package join

import (
	"cmp"
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// portInUseTimeout bounds the report of a port in use. The owner of the port may be this
// very rank, started before, and a second start should end at once.
const portInUseTimeout = 800 * time.Millisecond

// noListenAddr is the address of a worker that does not listen. The rendezvous wants one of
// each worker.
const noListenAddr = ":1"

// Report tells the other workers of a fault that this one found before it could join them.
// All end with it. Report returns the job's first cause, which may be an earlier one, after
// 2 s at most. If this worker serves the rendezvous, it does so until all others have been
// told. A worker alone tells its launcher.
func Report(ctx context.Context, p place.Place, c Config, cause *ring.Cause) *ring.Cause {
	switch p.Rendezvous = cmp.Or(p.Rendezvous, p.Launcher); {
	case p.Rendezvous == "":
		return cause
	}
	var err error
	if c.Token, err = place.TokenFor(p.Listen, c.Token, c.Insecure); err != nil {
		return cause
	}
	switch {
	case !p.Serve:
		return rendezvous.Report(ctx, reportOptions(p, c), cause)
	}
	t := &Team{config: c}
	if t.listen(p) != nil {
		return cause // the others name rank 0
	}
	defer t.closePort()
	t.server.Abort(cause)
	t.server.AwaitTold(ctx, p.WorldSize-1)
	return cause
}

// reportListenFault tells the others why this worker cannot listen, and returns err as a
// cause. A port in use or a missing token concerns this worker alone: the others end with
// exitcode.Retry.
func reportListenFault(ctx context.Context, p place.Place, c Config, err error) error {
	cause := ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1)
	if p.Serve { // no other worker can reach the rendezvous
		return cause.WithCode()
	}
	theirs := *cause
	if cause.ExitCode == exitcode.Auth || cause.ExitCode == exitcode.Retry {
		theirs.ExitCode = exitcode.Retry
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, portInUseTimeout)
		defer cancel()
	}
	rendezvous.Report(ctx, reportOptions(p, c), &theirs)
	return cause.WithCode()
}

// reportOptions returns the options of a session that only reports a fault.
func reportOptions(p place.Place, c Config) rendezvous.Options {
	o := joinOptions(p, c, selfAt(p, noListenAddr))
	o.Agree, o.Waiting = nil, nil
	return o
}
