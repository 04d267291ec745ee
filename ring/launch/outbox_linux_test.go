package launch

import (
	"io"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/launch/process"
)

// TestOutboxFull sends frames to a host that no longer reads, until the queue is full. It
// verifies that the launcher then gives the host up and says why. Without an error a rank
// would wait for the lost frame for ever.
func TestOutboxFull(t *testing.T) {
	g, book := testLogin(), new(logbook)
	g.ssh = process.NewCommand([]string{"sleep", "60"}, g.stderr, testGuard(t))
	_, out, err := g.ssh.StartPiped()
	if err != nil {
		t.Fatal(err)
	}
	r, in := io.Pipe() // nobody reads what is sent
	g.pipes(in, out)
	defer g.ssh.Kill()
	go g.send(&frameWriter{w: in})
	defer func() { g.leave(); r.Close(); <-g.sent }()
	ended := make(chan struct{})
	go func() { g.receive(book); close(ended) }()
	for range cap(g.outbox) + 2 { // one is on its way
		g.enqueue(frame{kindStart, 0, []byte("{}")})
	}
	select {
	case <-ended:
	case <-time.After(3 * time.Second):
		t.Fatal("frames were lost, and the login goes on")
	}
	if told := strings.Join(*book, "\n"); !strings.Contains(told, "lost: it takes nothing any more") {
		t.Errorf("told was %q, want that host 3 is lost since it takes nothing any more", *book)
	}
}
