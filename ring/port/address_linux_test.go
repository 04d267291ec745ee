package port

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// TestNoFreePort verifies the error of a listener if the system has no port left, in a network
// namespace with four ports.
func TestNoFreePort(t *testing.T) {
	errs := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40003"), 0)
		}
		errs <- err
		for err == nil {
			var lis net.Listener
			if lis, err = (address{}).listen(token.Token{}); err == nil {
				defer lis.Close()
			}
		}
		errs <- err
	}()
	if err := <-errs; err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	err := <-errs
	if want := "no free port (net.ipv4.ip_local_port_range is 40000 40003)"; exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v with code %d, want %q and %d", err, exitcode.Of(err), want, exitcode.Retry)
	}
}
