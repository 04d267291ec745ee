package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// agentCommand is the process that `run` starts on other hosts. It has no usage, so help
// does not list it.
func agentCommand() command { return command{name: "agent", run: runAgent} }

func runAgent(a *app, c *cli.Context) error {
	if code := launch.Agent(os.Stdin, os.Stdout, a.environ, build.Current(version)); code != exitcode.OK {
		return exitcode.With(code, errors.New("")) // the launcher already has the error
	}
	return nil
}
