package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/serving"
	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
)

// answerTurn is the default of --turn of bench serve.
const answerTurn = 2 * time.Second

// runBenchServe times the answers of exported models: by the interpreter beside TensorFlow, and by a server.
func runBenchServe(a *app, c *cli.Context) error {
	only := c.String("only")
	if only != "" && only != "interpreter" && only != "server" {
		return exitcode.With(exitcode.Usage, fmt.Errorf("--only is %q, want interpreter or server", only))
	}
	var errs error
	if only != "server" {
		errs = compare(a, c, speed.Config{Suite: speed.Answers, Rounds: c.Int("rounds"), Turn: c.Duration("turn"), Cases: casesOf(c)})
	}
	if only == "interpreter" || a.ctx.Err() != nil {
		return errs
	}
	to, err := comparison(a, c)
	if err == nil {
		err = (&serving.Bench{Output: to}).Run(a.ctx, serving.Config{Rounds: c.Int("rounds"), Turn: c.Duration("turn")})
	}
	return errors.Join(errs, err)
}
