package netns

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestConfig verifies that a network with too many hosts is refused.
func TestConfig(t *testing.T) {
	for hosts, good := range map[int]bool{-1: false, 0: false, 1: true, 250: true, 251: false} {
		if err := (Config{Hosts: hosts}).check(); (err == nil) != good {
			t.Errorf("hosts=%d: error %v, want good=%v", hosts, err, good)
		}
	}
}

// TestCommand verifies that a host's command line enters the namespace and becomes the program,
// so that signals reach it.
func TestCommand(t *testing.T) {
	got := strings.Join(Host{path: "/proc/1/fd/3"}.Command("program", "-x"), " ")
	if want := "nsenter --net=/proc/1/fd/3 -- program -x"; got != want {
		t.Errorf("command is %q, want %q", got, want)
	}
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if os.Getenv("RINGTRAIN_NETNS") == "" {
		t.Skip("set RINGTRAIN_NETNS=1 and run as root to test over network namespaces")
	}
	if err := Available(); err != nil {
		t.Skip(err)
	}
}

// mustNew makes a network, or skips the test if the kernel refuses.
func mustNew(t *testing.T, c Config) *Net {
	t.Helper()
	n, err := New(t.Context(), c)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return n
}

func output(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// TestNew verifies that hosts reach each other, that each link is shaped at both ends, and that
// the machine's own network does not change.
func TestNew(t *testing.T) {
	needNamespaces(t)
	links, names := output(t, "ip", "link"), output(t, "ip", "netns", "list")
	n := mustNew(t, Config{Hosts: 3, Rate: "100mbit"})
	if got := output(t, "ip", "link") + output(t, "ip", "netns", "list"); got != links+names {
		t.Errorf("the machine's own network is now\n%s\nwant\n%s", got, links+names)
	}
	hosts := n.Hosts()
	for i, h := range hosts {
		next := hosts[(i+1)%len(hosts)]
		if got := output(t, h.Command("ip", "route", "get", next.Addr)...); !strings.Contains(got, "dev eth0 src "+h.Addr) {
			t.Errorf("host %d reaches the next one by %s, want eth0 and %s", i, got, h.Addr)
		}
		if got := output(t, h.Command("tc", "qdisc", "show", "dev", "eth0")...); !strings.Contains(got, "rate 100Mbit") {
			t.Errorf("host %d sends through %s, want 100Mbit", i, got)
		}
	}
	held := len(n.namespaces)
	if held != len(hosts)+1 {
		t.Errorf("%d namespaces are held, want %d", held, len(hosts)+1)
	}
	for range 2 {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(hosts[0].path); err == nil {
		t.Errorf("%s is still held after Close", hosts[0].path)
	}
}

// TestRefused verifies which messages count as a refusal by the kernel.
func TestRefused(t *testing.T) {
	for said, want := range map[string]bool{
		"RTNETLINK answers: Operation not permitted":                                 true,
		"Error: Unknown device type.":                                                true,
		"Error: Specified qdisc kind is unknown.":                                    true,
		"RTNETLINK answers: Operation not supported":                                 true,
		"nsenter: reassociate to namespace 'ns/net' failed: Operation not permitted": true,
		`Illegal "rate"`: false,
		"":               false,
	} {
		if got := isRefusal(said); got != want {
			t.Errorf("%q: refused is %v, want %v", said, got, want)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestNewFails verifies that an incomplete network leaves no namespaces behind, and that the
// error names the line that failed.
func TestNewFails(t *testing.T) {
	needNamespaces(t)
	if err := mustNew(t, Config{Hosts: 1, Rate: "100mbit"}).Close(); err != nil {
		t.Error(err)
	}
	files := openFiles(t)
	_, err := New(t.Context(), Config{Hosts: 2, Rate: "fast"})
	if err == nil || !strings.Contains(err.Error(), "host 0: tc qdisc add dev eth0") {
		t.Errorf("error is %v, want one that names host 0 and the line", err)
	}
	if now := openFiles(t); now != files {
		t.Errorf("%d files are open after a failure, %d before", now, files)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ended, Config{Hosts: 1}); err == nil {
		t.Error("a network is made after its context has ended")
	}
}
