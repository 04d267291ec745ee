package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

func tokenCommand() command {
	return command{
		name: "token", usage: "make the token by which this user's workers know each other",
		examples: []string{"ringtrain token"},
		flags:    []cli.Flag{forceFlag("token")},
		run:      runToken,
	}
}

func runToken(a *app, c *cli.Context) error {
	dir, err := os.UserConfigDir()
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	name := filepath.Join(dir, "ringtrain", "token")
	secret := token.New()
	if err := secret.WriteFile(name, c.Bool("force")); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s\ntoken %v: copy the file to every host, with mode 0600: who has it may join your jobs\n", name, secret.ID())
	return nil
}
