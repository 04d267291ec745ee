package netns

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOwnNetwork fails if making namespaces moves the process itself into one:
// what it does next would be cut off from the machine's network. That happens if
// the process's first thread does the work, so it is offered it.
func TestOwnNetwork(t *testing.T) {
	needNamespaces(t)
	before := ownNetwork(t)
	if err := mustNew(t, Config{Hosts: 1}).Close(); err != nil {
		t.Error(err)
	}
	done := make(chan bool)
	first := func() {
		defer close(done)
		if unix.Gettid() != os.Getpid() {
			t.Error("this is not the first thread: nothing is shown")
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // whoever is waited for runs here, too
		runtime.UnlockOSThread()
		f, err := unshare()
		if err != nil {
			t.Error(err)
			return
		}
		f.Close()
	}
	select {
	case onFirstThread <- first:
		<-done
	default: // with -count: it has been given away
	}
	if now := ownNetwork(t); now != before {
		t.Errorf("the process is in %s, was in %s", now, before)
	}
}

func ownNetwork(t *testing.T) string {
	t.Helper()
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// onFirstThread is for what one test wants done on the process's first thread.
var onFirstThread = make(chan func())

// TestMain keeps the first thread, which it begins on, for that.
func TestMain(m *testing.M) {
	runtime.LockOSThread()
	code := make(chan int)
	go func() { code <- m.Run() }()
	select {
	case f := <-onFirstThread:
		f()
		os.Exit(<-code)
	case c := <-code:
		os.Exit(c)
	}
}
