package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/model/train/report"
)

// client is a reader of a hub in a test.
type client struct {
	text   bytes.Buffer
	stuck  chan struct{} // blocks writes until it is closed; nil: does not
	reader *reader
	ctx    context.Context
	err    error
}

// read starts a reader that has all events up to a number.
func (h *hub) read(t *testing.T, after int, stuck chan struct{}) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{stuck: stuck, ctx: ctx, reader: h.enter(after, cancel)}
	if c.reader == nil {
		t.Fatal("the hub is full")
	}
	go func() {
		defer cancel()
		defer h.leave(c.reader)
		c.err = h.stream(ctx, c.reader, func(text []byte) error {
			if c.stuck != nil {
				select {
				case <-c.stuck:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			c.text.Write(text)
			return nil
		})
	}()
	return c
}

// ids returns the numbers of the events that the client has read, and how many there are.
func (c *client) ids() []int {
	var all []int
	for line := range strings.Lines(c.text.String()) {
		var id int
		if n, _ := fmt.Sscanf(line, "id: %d", &id); n == 1 {
			all = append(all, id)
		}
	}
	return all
}

// stepAt is the event of a step, some seconds after the start of a run.
func stepAt(step int64) report.Stamped {
	return report.Stamped{Event: report.Step{Step: step, Examples: 1}, Time: time.Unix(900_000_000+step, 0)}
}

// publishSteps publishes an event for each step of a range.
func (h *hub) publishSteps(from, to int64) {
	for step := from; step <= to; step++ {
		h.Event(stepAt(step))
	}
}

// TestReaders verifies that a reader gets all events in order with their numbers, that one who comes back
// goes on behind the number that it has, and that one with the number of another server begins anew. All
// leave at the end.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hub
		h.publishSteps(1, 3)
		first := h.read(t, 0, nil)
		h.publishSteps(4, 5)
		back, stranger := h.read(t, 4, nil), h.read(t, 99, nil)
		synctest.Wait()
		h.publishSteps(6, 6)
		h.end()
		synctest.Wait()
		for name, tt := range map[string]struct {
			got  *client
			want string
		}{"first": {first, "[1 2 3 4 5 6]"}, "back": {back, "[5 6]"}, "stranger": {stranger, "[1 2 3 4 5 6]"}} {
			if got := fmt.Sprint(tt.got.ids()); got != tt.want || tt.got.err != nil {
				t.Errorf("%s has read %s, %v, want %s", name, got, tt.got.err, tt.want)
			}
		}
		if text := first.text.String(); !strings.Contains(text, "id: 2\ndata: {\"event\":\"step\",\"time\":\"1998-07-09T16:00:02Z\",\"step\":2,") {
			t.Errorf("the first reader has %s", text)
		}
		if len(h.readers) != 0 {
			t.Errorf("%d readers are left", len(h.readers))
		}
	})
}

// TestLongHistory verifies that a late reader gets the thinned history of a long run,
// then each event as it comes, and a warning of the first minute.
func TestLongHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hub
		h.Event(report.Stamped{Event: report.Warning{Cause: "early"}, Time: stepAt(0).Time})
		h.publishSteps(1, 4000)
		late := h.read(t, 0, nil)
		synctest.Wait()
		h.publishSteps(4001, 4002)
		h.end()
		synctest.Wait()
		ids := late.ids()
		if n := len(ids); n < 500 || n > 3000 || ids[n-1] != 4003 || ids[n-2] != 4002 || !strings.Contains(late.text.String(), "early") {
			t.Errorf("the reader has %d events up to %v", n, ids[max(0, n-3):])
		}
		for i, id := range ids[1:] {
			if id < ids[i] {
				t.Fatalf("event %d comes after %d", id, ids[i])
			}
		}
	})
}

// TestUnread verifies that a reader that takes nothing is dropped after 1 MiB of events, and that neither
// the publisher nor another reader waits for it.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hub
		lazy, other := h.read(t, 0, make(chan struct{})), h.read(t, 0, nil)
		big := report.Stamped{Event: report.Warning{Cause: strings.Repeat("x", 1<<10)}}
		n := 0
		for ; lazy.ctx.Err() == nil; n++ {
			h.Event(big)
			synctest.Wait()
			if n > 2<<10 {
				t.Fatal("the reader is not dropped")
			}
		}
		if size := n << 10; size < maxPending*7/10 || size > maxPending*11/10 {
			t.Errorf("the reader is dropped after %d bytes", size)
		}
		h.end()
		synctest.Wait()
		if got := len(other.ids()); got != n || other.err != nil || !errors.Is(lazy.err, context.Canceled) {
			t.Errorf("another reader has %d of %d events, %v; the dropped one ends with %v", got, n, other.err, lazy.err)
		}
	})
}

// TestLargeEvent verifies that one event above the bound drops no reader that takes it.
func TestLargeEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hub
		c := h.read(t, 0, nil)
		synctest.Wait()
		h.Event(report.Stamped{Event: report.Warning{Cause: strings.Repeat("x", 2*maxPending)}})
		synctest.Wait()
		h.Event(stepAt(1))
		h.end()
		synctest.Wait()
		if got := fmt.Sprint(c.ids()); got != "[1 2]" || c.err != nil {
			t.Errorf("the reader has %s, %v", got, c.err)
		}
	})
}

// TestStatus verifies that readers get the newest state of the rendezvous, by name and without a number.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hub
		h.Status([]byte(`{"n":1}`))
		stuck := make(chan struct{})
		quick, slow := h.read(t, 0, nil), h.read(t, 0, stuck)
		synctest.Wait()
		h.Status([]byte(`{"n":2}`))
		synctest.Wait()
		h.Status([]byte(`{"n":3}`))
		synctest.Wait()
		close(stuck)
		h.end()
		synctest.Wait()
		const head = "retry: 1000\n\n"
		line := func(n int) string { return fmt.Sprintf("event: status\ndata: {\"n\":%d}\n\n", n) }
		if got, want := quick.text.String(), head+line(1)+line(2)+line(3); got != want {
			t.Errorf("a reader has %q, want %q", got, want)
		}
		if got, want := slow.text.String(), head+line(1)+line(3); got != want {
			t.Errorf("a slow reader has %q, want %q", got, want)
		}
	})
}

// TestEarlierHistory verifies that readers get what was before a restart, in front of what comes.
func TestEarlierHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "history.jsonl")
		var lines []byte
		for step := range int64(3) {
			s := stepAt(step)
			line, err := report.Line(s.Event, s.Time)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line...)
		}
		if err := os.WriteFile(name, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		var h hub
		if err := h.Load(name); err != nil {
			t.Fatal(err)
		}
		before := h.read(t, 0, nil)
		synctest.Wait()
		h.publishSteps(100, 101)
		h.end()
		synctest.Wait()
		if got := strings.Count(before.text.String(), `"event":"step"`); got != 5 || fmt.Sprint(before.ids()) != "[1 2 3 4 5]" {
			t.Errorf("the reader has %s", before.text.String())
		}
	})
}
