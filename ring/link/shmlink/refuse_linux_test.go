package shmlink

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

func noMemfd(string, int) (int, error) { return -1, unix.ENOSYS }

func noRights(...int) []byte { return nil }

// noLarge refuses mappings of a MiB or more.
func noLarge(fd int, offset int64, length, prot, flags int) ([]byte, error) {
	if length >= 1<<20 {
		return nil, unix.ENOMEM
	}
	return unix.Mmap(fd, offset, length, prot, flags)
}

func noMap(int, int64, int, int, int) ([]byte, error) { return nil, unix.EACCES }

// sameUnavailable verifies that all errors are ErrUnavailable with the same
// text.
func sameUnavailable(t *testing.T, errs []error, words ...string) {
	t.Helper()
	for i, err := range errs {
		switch {
		case !errors.Is(err, ErrUnavailable):
			t.Errorf("worker %d: error %v, want ErrUnavailable", i, err)
		case err.Error() != errs[0].Error():
			t.Errorf("worker %d: %q, want %q as worker 0 has it", i, err, errs[0])
		case exitcode.Of(err) != exitcode.Usage:
			t.Errorf("worker %d: exit code %d, want %d: to try again is no remedy", i, exitcode.Of(err), exitcode.Usage)
		}
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("worker %d: error %v, want %q in it", i, err, w)
			}
		}
	}
}

// TestUnavailable verifies that all workers get ErrUnavailable with the same reason when one
// of them is refused something: else some would use links and others memory.
func TestUnavailable(t *testing.T) {
	tests := []struct {
		name   string
		local  int // the worker whose calls are refused
		system system
		rank   int // named in the error: a worker without a descriptor names itself
		want   string
	}{
		{"memfd=ENOSYS", leader, system{memfd: noMemfd}, 1, "rank 1 (here): memfd_create: function not implemented"}, // the text of ENOSYS in strerror(3)
		{"rights=none", leader, system{rights: noRights}, 3, "did not arrive"},
		{"mmap=EACCES/local=0", leader, system{mmap: noMap}, 1, "rank 1 (here): mmap of"},
		{"mmap=EACCES/local=2", 2, system{mmap: noMap}, 5, "rank 5 (here): mmap of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fds, maps := openResources(t)
			_, errs := openEach(testContext(t), t, 4, func(i int) Config {
				if i == tt.local {
					return Config{system: tt.system}
				}
				return Config{}
			})
			sameUnavailable(t, errs, tt.want)
			for i, err := range errs {
				if pe, ok := errors.AsType[*ring.PeerError](err); !ok || pe.Rank != tt.rank {
					t.Errorf("worker %d: error %v, want one that is about rank %d", i, err, tt.rank)
				}
			}
			if f, m := openResources(t); f != fds || m != maps {
				t.Errorf("%d descriptors and %d mappings are left, want 0", f-fds, m-maps)
			}
		})
	}
}

// arenas calls Arena on all workers at the same time, with a length for each.
func arenas(all []ring.Memory, n func(i int) int) []error {
	errs := make([]error, len(all))
	done := make(chan struct{})
	for i, m := range all {
		go func() {
			_, errs[i] = m.Arena(context.Background(), n(i))
			done <- struct{}{}
		}()
	}
	for range all {
		<-done
	}
	return errs
}

// TestArenaUnavailable verifies that no worker gets an arena that one worker is refused, and
// that the workers can continue without it.
func TestArenaUnavailable(t *testing.T) {
	for _, local := range []int{leader, 2} {
		all, errs := openEach(testContext(t), t, 3, func(i int) Config {
			if i == local {
				return Config{system: system{mmap: noLarge}}
			}
			return Config{}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		_, maps := openResources(t)
		sameUnavailable(t, arenas(all, func(int) int { return 1 << 18 }), "mmap of", "cannot allocate memory")
		for i, m := range all {
			if got := m.Missing(); got != local {
				t.Errorf("worker %d misses %d, want %d, which is refused the arena", i, got, local)
			}
		}
		if _, m := openResources(t); m != maps {
			t.Errorf("%d mappings are left, want 0", m-maps)
		}
		if err := errors.Join(arenas(all, func(int) int { return 10 })...); err != nil {
			t.Errorf("a small arena after it: %v", err)
		}
	}
}

// TestArenaDiffers verifies that workers whose arenas differ in length get an error that
// names both.
func TestArenaDiffers(t *testing.T) {
	all := openAll(t, 3, Config{})
	for i, err := range arenas(all, func(i int) int { return 10 + i/2 }) {
		wantError(t, []string{"leader", "member 1", "member 2"}[i], err, exitcode.Protocol,
			"rank 5 (here) wants memory for 11 elements, rank 1 (here) for 10")
	}
}

// TestArenaTooLarge verifies that a length that overflows is refused.
func TestArenaTooLarge(t *testing.T) {
	m := openAll(t, 1, Config{})[0]
	for _, n := range []int{1 << 62, 1<<63 - 1, 1 << 61} {
		if _, err := m.Arena(t.Context(), n); !errors.Is(err, ErrUnavailable) {
			t.Errorf("n=%d: error %v, want ErrUnavailable", n, err)
		}
	}
}

// TestGiveUpInArena verifies that a worker that is interrupted between the messages about an
// arena does not leave the others waiting, and is named.
func TestGiveUpInArena(t *testing.T) {
	for _, quitter := range []int{leader, 1} {
		serving, goOn := make(chan struct{}), make(chan struct{})
		slow := func(fd int, offset int64, length, prot, flags int) ([]byte, error) {
			if length > os.Getpagesize() {
				close(serving)
				<-goOn
			}
			return unix.Mmap(fd, offset, length, prot, flags)
		}
		all, errs := openEach(testContext(t), t, 3, func(i int) Config {
			if i == 2 {
				return Config{system: system{mmap: slow}}
			}
			return Config{}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		done := make(chan []error)
		go func() { done <- arenas(all, func(int) int { return 1000 }) }()
		<-serving
		all[quitter].Close() // waits for the slow worker, or for the leader, which waits for it
		close(goOn)
		for i, err := range <-done {
			if i == quitter {
				if !errors.Is(err, ring.ErrClosed) {
					t.Errorf("quitter=%d: error %v, want ring.ErrClosed", i, err)
				}
				continue
			}
			if err == nil && quitter != leader {
				continue // it mapped the arena before it left
			}
			wantError(t, "another worker", err, exitcode.Retry, []string{"rank 1 (here)", "rank 3 (here)"}[quitter])
			if got := all[i].Missing(); got != quitter {
				t.Errorf("quitter=%d: worker %d misses %d", quitter, i, got)
			}
		}
	}
}
