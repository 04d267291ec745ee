package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"ringtrain/ring"
	"ringtrain/ring/build"
)

func versionCommand() command {
	return command{name: "version", usage: "version of the binary, of its protocol and of Go", run: (*app).version}
}

func (a *app) version(c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "none"); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "ringtrain %s, protocol %d, %s %s/%s\n", version, ring.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(a.stdout, "build %s\n", build.Own(version))
	return nil
}
