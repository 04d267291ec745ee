package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring/ringtest/netns"
)

// The tests TestAttack… attack jobs of real processes as strangers, men in the middle and other
// users do. Each has a share in `make check-long`. In full, with tables of what was seen:
//
//	make attacks
//	RINGTRAIN_ATTACKS=1 go test -v -run TestAttackFlood/kind=ssh ./cmd/ringtrain

// attacks reports whether the attacks run in full. Under -short it skips the test.
func attacks(t *testing.T) bool {
	t.Helper()
	if os.Getenv("RINGTRAIN_ATTACKS") != "" {
		return true
	}
	long(t)
	return false
}

// secured returns the arguments for a security of links. TLS needs none.
func secured(security string) []string {
	if security == "tls" {
		return nil
	}
	return []string{"--set", "allreduce.security=" + security}
}

// inside runs do on a thread in a host's namespace. The sockets that do makes stay there.
func inside(h netns.Host, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		back, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
		if err != nil {
			done <- err
			return
		}
		defer back.Close()
		there, err := os.Open(strings.TrimPrefix(h.Command()[1], "--net="))
		if err != nil {
			done <- err
			return
		}
		defer there.Close()
		if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- os.NewSyscallError("setns", err)
			return
		}
		err = do()
		if unix.Setns(int(back.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread() // else the thread ends with the goroutine
		}
		done <- err
	}()
	return <-done
}

// listenOn listens on an address of a host until the end of the test.
func listenOn(t testing.TB, h netns.Host, addr string) net.Listener {
	t.Helper()
	var l net.Listener
	err := inside(h, func() (err error) {
		l, err = net.Listen("tcp4", addr)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dialFrom connects a host, at one of its addresses, with addr.
func dialFrom(ctx context.Context, h netns.Host, from, addr string) (net.Conn, error) {
	var c net.Conn
	err := inside(h, func() (err error) {
		d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err = d.DialContext(ctx, "tcp4", addr)
		return err
	})
	return c, err
}

// attackSeed is the seed of an attack: RINGTRAIN_ATTACKS_SEED, or the time.
func attackSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("RINGTRAIN_ATTACKS_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d (RINGTRAIN_ATTACKS_SEED)", seed)
	return seed
}
