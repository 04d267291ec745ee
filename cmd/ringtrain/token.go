package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

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
	name, err := token.OwnFile()
	if err != nil {
		return err
	}
	secret := token.New()
	if err := secret.WriteFile(name, c.Bool("force")); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s\ntoken %v: copy the file to every host, with mode 0600: who has it may join your jobs\n", name, secret.ID())
	return nil
}
