package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/build"
)

func versionCommand() command {
	return command{name: "version", usage: "version, commit and date of the binary, its protocol and kernel sets", examples: []string{"ringtrain version"}, run: runVersion}
}

func runVersion(a *app, c *cli.Context) error {
	fmt.Fprintf(a.stdout, "ringtrain %s%s, protocol %d, %s %s/%s\n", version, commit(), ring.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(a.stdout, "kernel sets %s\n", strings.Join(model.KernelSets(), " "))
	fmt.Fprintf(a.stdout, "build %s\n", build.Current(version))
	return nil
}

// commit returns the commit and date of the binary, as in ", commit 1a2b3c4d of
// 2026-11-23". A build without version control does not record
// them.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ", commit not recorded"
	}
	values := map[string]string{}
	for _, s := range info.Settings {
		values[s.Key] = s.Value
	}
	revision, date := values["vcs.revision"], values["vcs.time"]
	if revision == "" {
		return ", commit not recorded"
	}
	text := ", commit " + revision[:min(len(revision), 8)]
	if len(date) >= len(time.DateOnly) {
		text += " of " + date[:len(time.DateOnly)]
	}
	if values["vcs.modified"] == "true" {
		text += ", changed since"
	}
	return text
}
