package port

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// TestParse verifies the parser of addresses, and that a malformed address is a usage error
// that shows it.
func TestParse(t *testing.T) {
	tests := []struct {
		addr string
		want address
		ok   bool
	}{
		{":0", address{"", 0, 0}, true},
		{"127.0.0.1:2222", address{"127.0.0.1", 2222, 2222}, true},
		{"[::1]:2222", address{"::1", 2222, 2222}, true},
		{"host:2222-2230", address{"host", 2222, 2230}, true},
		{"host:7-7", address{"host", 7, 7}, true},
		{addr: ""}, {addr: "host"}, {addr: "::1:7"}, {addr: "host:"}, {addr: "host:x"}, {addr: "host:-1"}, {addr: "host:7-"},
		{addr: "host:9-7"}, {addr: "host:0-7"}, {addr: "host:65536"}, {addr: "host:1-65536"}, {addr: "host:1-2-3"}, {addr: "host:http"},
	}
	for _, tt := range tests {
		t.Run("addr="+tt.addr, func(t *testing.T) {
			got, err := parse(tt.addr)
			if tt.ok {
				if err != nil || got != tt.want {
					t.Errorf("read %+v, %v, want %+v", got, err, tt.want)
				}
				return
			}
			if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), fmt.Sprintf("%q", tt.addr)) {
				t.Errorf("error %v (code %d), want exitcode.Usage with the address", err, exitcode.Of(err))
			}
		})
	}
}

// TestListen verifies that Addr is the address of the port, and that a connection over a real
// socket arrives.
func TestListen(t *testing.T) {
	p, err := Listen("127.0.0.1:0", secret)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if strings.HasSuffix(p.Addr(), ":0") || p.Addr() != p.GRPC().Addr().String() {
		t.Errorf("address is %s, want a port", p.Addr())
	}
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if o, err := Ask(t.Context(), c, secret); err != nil || o != (Owner{Rank: -1}) {
		t.Errorf("owner is %+v, %v", o, err)
	}
}

// TestTaken verifies that the error of a taken port names it, and that a range finds its free
// port.
func TestTaken(t *testing.T) {
	p, err := Listen("127.0.0.1:0", secret)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = Listen(p.Addr(), secret)
	if exitcode.Of(err) != exitcode.Retry || !errors.Is(err, syscall.EADDRINUSE) ||
		!strings.HasPrefix(fmt.Sprint(err), "listen "+p.Addr()+": address already in use: ") {
		t.Errorf("error %v (code %d), want exitcode.Retry with the address", err, exitcode.Of(err))
	}
	taken := p.lis.Addr().(*net.TCPAddr).Port
	only := fmt.Sprintf("127.0.0.1:%d-%d", taken, taken)
	if _, err := Listen(only, secret); exitcode.Of(err) != exitcode.Retry {
		t.Errorf("error %v, want exitcode.Retry", err)
	}
	more := fmt.Sprintf("127.0.0.1:%d-%d", taken, min(taken+50, 65535))
	q, err := Listen(more, secret)
	if err != nil {
		t.Fatalf("no free port in %s: %v", more, err)
	}
	defer q.Close()
	if q.Addr() == p.Addr() {
		t.Errorf("the taken port %s was given again", q.Addr())
	}
}

// TestHolder verifies that the error of a taken port names the rank that has it: the user who
// starts a rank twice must not stop the first one. Text from a stranger never reaches a
// terminal unescaped.
func TestHolder(t *testing.T) {
	other := token.New()
	tests := []struct {
		name  string
		owner *Owner // nil: it has another token
		want  string
	}{
		{"worker", &Owner{JobID: "mnist-7", Rank: 1}, `rank 1 of job "mnist-7" has the port: was it started twice?`},
		{"worker of no rank", &Owner{Rank: -1}, "a worker of a job has the port: was it started twice?"},
		{"rendezvous", &Owner{Rendezvous: true, JobID: "a\x1bb", Rank: -1}, `the rendezvous of job "a\x1bb" has the port; give another one`},
		{"long", &Owner{JobID: strings.Repeat("y", 200)}, fmt.Sprintf("rank 0 of job %q has the port: was it started twice?", strings.Repeat("y", 80))},
		{"another", nil, fmt.Sprintf("a job that has another token (%v, here %v) has the port; give another one", other.ID(), secret.ID())},
	}
	for _, tt := range tests {
		t.Run("owner="+tt.name, func(t *testing.T) {
			has := other
			if tt.owner != nil {
				has = secret
			}
			p, err := Listen("127.0.0.1:0", has)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if tt.owner != nil {
				p.SetOwner(func() Owner { return *tt.owner })
			}
			_, err = Listen(p.Addr(), secret)
			if want := "listen " + p.Addr() + ": address already in use: " + tt.want; exitcode.Of(err) != exitcode.Retry || fmt.Sprint(err) != want {
				t.Errorf("error %v (code %d), want %s", err, exitcode.Of(err), want)
			}
		})
	}
}

// TestForeignAddress verifies that an address of another host is a usage error.
func TestForeignAddress(t *testing.T) {
	_, err := Listen("192.0.2.1:0", secret) // TEST-NET-1
	if exitcode.Of(err) != exitcode.Usage || !strings.Contains(fmt.Sprint(err), "192.0.2.1:0") {
		t.Errorf("error %v (code %d), want exitcode.Usage with the address", err, exitcode.Of(err))
	}
}
