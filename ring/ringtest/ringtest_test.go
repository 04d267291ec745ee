package ringtest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// recorder is a testing.TB that records the reports.
type recorder struct {
	testing.TB
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

// TestRun verifies that the function runs once per rank, with a group of that
// rank.
func TestRun(t *testing.T) {
	var mu sync.Mutex
	ran := map[int]int{}
	ringtest.Run(t, 5, ring.DefaultConfig(), func(g *ring.Group) error {
		mu.Lock()
		defer mu.Unlock()
		ran[g.Membership().Rank]++
		return nil
	})
	for rank := range 5 {
		if ran[rank] != 1 {
			t.Errorf("rank %d ran %d times, want 1", rank, ran[rank])
		}
	}
}

// TestRunReports verifies that an error of one rank is reported with its rank, and ends the
// waits of the others.
func TestRunReports(t *testing.T) {
	mine := errors.New("something is wrong")
	for name, fail := range map[string]func() error{
		"error":        func() error { return mine },
		"ended by t":   func() error { runtime.Goexit(); return nil },
		"never ending": func() error { return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			ringtest.Run(r, 3, ring.DefaultConfig(), func(g *ring.Group) error {
				if g.Membership().Rank == 1 {
					synctest.Wait() // the others are in the barrier
					return fail()
				}
				return g.Barrier(context.Background())
			})
			got := strings.Join(r.lines, "\n")
			for want, cases := range map[string]string{
				"rank 1: something is wrong":                 "error",
				"rank 1: the function has not returned":      "ended by t",
				"peer rank 1 (memory:1): rank 1 has failed:": "error, ended by t",
				"rank 2: ring: barrier 0, step 0, peer rank": "error, ended by t, never ending",
			} {
				if strings.Contains(cases, name) && !strings.Contains(got, want) {
					t.Errorf("%s: reported\n%s\nwant %q", name, got, want)
				}
			}
		})
	}
}

// TestRunFindsLeaks verifies that a leaked goroutine is reported.
func TestRunFindsLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := &recorder{TB: t}, make(chan struct{})
		defer close(stop)
		ringtest.Run(r, 1, ring.DefaultConfig(), func(*ring.Group) error {
			go func() { <-stop }()
			return nil
		})
		if len(r.lines) != 1 || !strings.Contains(r.lines[0], "unexpected goroutines") {
			t.Errorf("reported %q, want a goroutine that is left", r.lines)
		}
	})
}

// TestFaults verifies that a fault has its effect on its own frame, and on no other.
func TestFaults(t *testing.T) {
	type seen struct {
		segment uint32
		payload string
		after   time.Duration
	}
	at := func(segment uint32, payload string) seen { return seen{segment, payload, 0} }
	for _, tt := range []struct {
		name  string
		fault ringtest.Fault
		want  []seen
		err   error
	}{
		{"none", ringtest.Fault{Op: 2}, []seen{at(0, "a"), at(1, "b"), at(2, "c")}, nil},
		{"cut", ringtest.Fault{Op: 1, Segment: 1, Kind: ringtest.Cut}, []seen{at(0, "a")}, ringtest.ErrCut},
		{"silence", ringtest.Fault{Op: 1, Segment: 1, Kind: ringtest.Silence}, []seen{at(0, "a")}, nil},
		{"corrupt", ringtest.Fault{Op: 1, Segment: 1, Kind: ringtest.Corrupt, Change: func(f *ring.Frame) { f.Payload[0] = 'x' }},
			[]seen{at(0, "a"), at(1, "x"), at(2, "c")}, nil},
		{"delay", ringtest.Fault{Op: 1, Segment: 1, Kind: ringtest.Delay, Delay: time.Hour},
			[]seen{at(0, "a"), {1, "b", time.Hour}, {2, "c", time.Hour}}, nil},
	} {
		t.Run("fault="+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				links := memlink.Ring(2)
				l, start := ringtest.WithFault(links[0], tt.fault), time.Now()
				var err error
				go func() {
					for i, payload := range []string{"a", "b", "c"} {
						if err == nil {
							err = l.Send(t.Context(), ring.Frame{Op: 1, Segment: uint32(i), Payload: []byte(payload)})
						}
					}
					l.Close()
				}()
				var got []seen
				for {
					f, err := links[1].Recv(t.Context(), make([]byte, 1))
					if err != nil {
						break
					}
					got = append(got, seen{f.Segment, string(f.Payload), time.Since(start)})
				}
				synctest.Wait()
				if fmt.Sprint(got) != fmt.Sprint(tt.want) || !errors.Is(err, tt.err) {
					t.Errorf("arrived %v, error %v, want %v, %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
}
