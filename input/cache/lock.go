package cache

import (
	"context"
	"fmt"
	"time"

	"ringtrain/input/internal/hostlock"
	"ringtrain/ring/exitcode"
)

// tryLock takes the lock of a cache, or returns nil if another process has it or has just removed it.
func tryLock(name string) (*hostlock.Lock, error) {
	l, err := hostlock.Try(name + ".lock")
	if err != nil {
		return nil, fmt.Errorf("input.cache: %w", err)
	}
	return l, nil
}

// patience is the interval at which a process looks for the cache that another process makes.
const patience = 300 * time.Millisecond

// Once returns the cache c. If no cache fits, one process of the host calls make, and the others
// wait for it. If that process dies, another one calls make. Once calls notice with the reason why
// an existing cache is made anew.
func Once(ctx context.Context, c Config, notice func(string), make func() error) (*Set, error) {
	for told := false; ; {
		s, why, err := Find(c)
		if s != nil || err != nil {
			return s, err
		}
		l, err := tryLock(c.Name())
		if err != nil {
			return nil, err
		}
		if l != nil {
			s, why, err := Find(c) // another one may have made it by now
			if s == nil && err == nil {
				if why != "" && !told {
					notice(fmt.Sprintf("cache %s is made anew: %s", c.Name(), why))
				}
				sweep(c.Name(), notice)
				if err = make(); err == nil {
					if s, why, err = Find(c); s == nil && err == nil {
						err = exitcode.With(exitcode.BadData, fmt.Errorf("cache %s: it does not fit as soon as it is made: %s", c.Name(), why))
					}
				}
			}
			l.Close()
			return s, err
		}
		if why != "" && !told {
			notice(fmt.Sprintf("cache %s is made anew by another process: %s", c.Name(), why))
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(patience):
		}
	}
}
