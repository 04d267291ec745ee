package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
)

// leastNumbers has the least value of each option that takes a number. Commands check other limits
// where they use the value.
var leastNumbers = map[string]int{
	"np": 1, "world-size": 1, "rank": 0, "restarts": 0, "fanout": 0,
	"iters": 0, "rounds": 1, "hosts": 0, "per-host": 1, "threads": 1,
	"rows": 1, "test-rows": 1, "ids": 1, "fields": 1, "spread": 1, "numbers": 0,
	"base": 0, "resize": 0, "count": 0, "skip": 0, "max-features": 1, "top": 1, "sample": 1,
	"max-batch": 1, "queue": 0,
}

// leastTimes has the least value of each option that takes a time.
var leastTimes = map[string]time.Duration{
	"start-timeout": time.Nanosecond, "grace": 0, "timeout": 0, "lease": time.Second,
	"duration": time.Nanosecond, "budget": 0, "latency": 0, "turn": time.Nanosecond,
	"poll": time.Millisecond, "request-timeout": time.Millisecond, "drain": 0,
}

// checkLeast returns an error for the first option that was set below its least value. A default
// other than 0, such as -1 of --rank, may be below it: given, it means the same as not given. The
// error names the option as a person types it.
func checkLeast(c *cli.Context, flags []cli.Flag) error {
	for _, f := range flags {
		name := f.Names()[0]
		if !c.IsSet(name) {
			continue
		}
		var err error
		switch f := f.(type) {
		case *cli.IntFlag:
			if n := c.Int(name); n != 0 && n == f.Value {
				continue
			}
			err = below(name, c.Int(name), leastNumbers[name])
		case *cli.DurationFlag:
			err = below(name, c.Duration(name), leastTimes[name])
		}
		if err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
	}
	return nil
}

// below returns an error if value is less than least.
func below[T cmp.Ordered](name string, value, least T) error {
	if value >= least {
		return nil
	}
	want := fmt.Sprint(least, " or more")
	switch any(least) {
	case any(time.Duration(0)):
		want = "0 or more"
	case any(time.Nanosecond):
		want = "more than 0"
	}
	return fmt.Errorf("%s is %v, want %s", dashed(name), value, want)
}
