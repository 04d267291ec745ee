package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// agentCommand is what `run` starts on other hosts. It is not for people: it
// has no usage, and no help tells of it.
func agentCommand() command { return command{name: "agent", run: (*app).agent} }

func (a *app) agent(c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "none"); err != nil {
		return err
	}
	if code := launch.Agent(os.Stdin, os.Stdout, a.environ, build.Own(version)); code != exitcode.OK {
		return exitcode.With(code, errors.New("")) // the launcher has been told
	}
	return nil
}
