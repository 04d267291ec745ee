package rendezvous

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestDirectoryDenied verifies that a worker goes on, before and after the start, while the directory
// of the rendezvous, such as etcd, denies access.
func TestDirectoryDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newRestartable(t, ServerConfig{})
		denied := exitcode.With(exitcode.Auth, &ring.Cause{Rank: -1, Step: -1, Text: "permission denied", ExitCode: exitcode.Auth})
		var denies atomic.Bool
		all := m.workers(2)
		for i := range all {
			all[i].Find = func(context.Context) (string, error) {
				if denies.Load() {
					return "", denied
				}
				return "10.0.0.1:29400", nil
			}
		}
		deny := func() {
			denies.Store(true)
			time.AfterFunc(30*time.Second, func() { denies.Store(false) })
		}
		deny()
		sessions := joinAll(t, all...)
		deny()
		m.kill()
		time.Sleep(31 * time.Second) // on the fake clock
		m.start()
		time.Sleep(3 * time.Second)
		leaveAll(t, sessions...)
	})
}
