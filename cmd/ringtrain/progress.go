package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring/exitcode"
)

// setProgress decides by --progress whether out draws how far a run is. It may do so where a person has
// started this process. mpirun and others give their ranks pseudo-terminals, and write a log.
func (a *app) setProgress(c *cli.Context, out *show.Reporter, byPerson bool) error {
	how := c.String("progress")
	switch how {
	case "auto", "live", "plain":
	default:
		return exitcode.With(exitcode.Usage, fmt.Errorf("--progress is %q, want auto, live or plain", how))
	}
	if out.Whole {
		out.Watched = how == "live" // as the launcher says
		return nil
	}
	out.Watched = byPerson && !out.Verbose && show.IsTerminal(a.rawErr)
	if how == "live" || how == "auto" && byPerson {
		out.Draw()
	}
	return nil
}
