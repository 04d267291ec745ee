package rendezvous

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/port"
)

// knock opens a connection to the port of s, says a text, and waits until the port closes it.
func (s *testServer) knock(t *testing.T, text string) {
	t.Helper()
	c, err := s.dial(context.WithoutCancel(t.Context()), s.addr)
	if err != nil {
		t.Fatal(err)
	}
	c.Write([]byte(text)) // the port closes when it has read enough
	c.Read(make([]byte, 1))
	c.Close()
}

// TestStrangersAreTold verifies that connections that prove nothing are told soon after the first one,
// and then once a minute while they come, that the status counts them, and that the job goes on.
func TestStrangersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told notices
		s := serveInMemory(t, ServerConfig{Notice: told.add})
		sessions := joinAll(t, s.workers(2)...)
		for range 300 { // five minutes
			s.knock(t, "GET / HTTP/1.1\r\nHost: 10.0.0.1:29400\r\n\r\n")
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Minute)
		const line = "port 29400: closed %d connection%s that proved nothing, most from 10.0.0.2"
		if n := strings.Count(told.text(), "that proved nothing"); n != 6 || !strings.Contains(told.text(), fmt.Sprintf(line, 300, "s")) {
			t.Errorf("%d lines of 300 visits in 5 minutes, want 6:\n%s", n, told.text())
		}
		if got := s.Status().Strangers; len(got) != 1 || got[0] != fmt.Sprintf(line, 300, "s") {
			t.Errorf("the status says %q", got)
		}
		leaveAll(t, sessions...)
	})
}

// TestStrangersOfAWorker verifies that the rendezvous tells what has come to the port of a worker
// elsewhere, and that the status has it.
func TestStrangersOfAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told notices
		s := serveInMemory(t, ServerConfig{Notice: told.add})
		all := s.workers(2)
		all[1].Strangers = func() port.Strangers { return port.Strangers{Closed: 1} }
		sessions := joinAll(t, all...)
		time.Sleep(5 * time.Minute)
		want := "rank 1 (host1): port 4000: closed 1 connection that proved nothing, from "
		if n := strings.Count(told.text(), want); n != 1 {
			t.Errorf("told %q, want once %q", told.text(), want)
		}
		got, err := s.statusClient(t, "").Next(t.Context())
		if err != nil || len(got) != 1 || len(got[0].Strangers) != 1 || !strings.HasPrefix(got[0].Strangers[0], want) {
			t.Errorf("the status is %+v, %v, want %q", got, err, want)
		}
		leaveAll(t, sessions...)
	})
}
