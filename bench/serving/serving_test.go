package serving

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAtRate verifies that requests begin at their rate, however long each takes, and that the times
// are those of the requests.
func TestAtRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		got, err := atRate(t.Context(), func(context.Context, int) error {
			made++
			time.Sleep(30 * time.Millisecond)
			return nil
		}, 100, after(995*time.Millisecond))
		if err != nil || made != 100 || got.quantile(0.5) != 30*time.Millisecond || got.quantile(1) != 30*time.Millisecond {
			t.Errorf("%d requests, median %v, error %v; want 100 of 30ms", made, got.quantile(0.5), err)
		}
		_, err = atRate(t.Context(), func(context.Context, int) error { return errors.New("refused") }, 100, after(time.Second))
		if err == nil || strings.Count(err.Error(), "refused") != 3 {
			t.Errorf("error %q, want the first three", err)
		}
	})
}

// TestByClients verifies that each client waits for its answer before it asks again.
func TestByClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		got, err := byClients(t.Context(), func(context.Context, int) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(10 * time.Millisecond)
			now.Add(-1)
			return nil
		}, 8, time.Second)
		if err != nil || len(got.took) != 800 || most.Load() != 8 || got.over != time.Second {
			t.Errorf("%d requests in %v, %d at once, error %v; want 800 in 1s, 8 at once", len(got.took), got.over, most.Load(), err)
		}
	})
}

// TestReadAddresses verifies that the ports of a server are read from its lines, in any order.
func TestReadAddresses(t *testing.T) {
	found := make(chan [2]string, 1)
	readAddresses(strings.NewReader("a line\ngRPC on 127.0.0.1:2\nREST on 127.0.0.1:1\nmlp\n"), found)
	if got := <-found; got != [2]string{"127.0.0.1:1", "127.0.0.1:2"} {
		t.Errorf("addresses %v", got)
	}
	readAddresses(io.LimitReader(strings.NewReader("gRPC on 127.0.0.1:2\n"), 100), found)
	if len(found) != 0 {
		t.Error("one address is taken for both")
	}
}

// TestLink verifies that a copy of a version has the same files, and appears whole.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	if err := os.MkdirAll(filepath.Join(src, "variables"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "variables", "data"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := link(src, dst); err != nil {
		t.Fatal(err)
	}
	a, errA := os.Stat(filepath.Join(src, "variables", "data"))
	b, errB := os.Stat(filepath.Join(dst, "variables", "data"))
	if err := errors.Join(errA, errB); err != nil || !os.SameFile(a, b) {
		t.Errorf("the copy has another file: %v", err)
	}
	if err := link(filepath.Join(dir, "missing"), filepath.Join(dir, "3")); err == nil {
		t.Error("a copy of nothing is no error")
	}
}

// TestRow verifies when a row meets its bar.
func TestRow(t *testing.T) {
	for _, tt := range []struct {
		row  Row
		want string
	}{
		{Row{Name: "p50", Value: 0.5, Unit: "ms", Max: 1}, "met [at most 1.00]"},
		{Row{Name: "p50", Value: 1.5, Unit: "ms", Max: 1}, "SHORT [at most 1.00]"},
		{Row{Name: "ratio", Value: 2.5, Unit: "times", Min: 2}, "met [2.00]"},
		{Row{Name: "ratio", Value: 1.5, Unit: "times", Min: 2}, "SHORT [2.00]"},
	} {
		if got := tt.row.String(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q, want %q at the end", got, tt.want)
		}
	}
	if got := (Row{Name: "p99", Value: 3, Unit: "ms"}).String(); strings.Contains(got, "met") || strings.Contains(got, "SHORT") {
		t.Errorf("%q has a verdict without a bar", got)
	}
}
