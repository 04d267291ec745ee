package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// TestInteropTcpdumpHosts verifies, with tcpdump as the witness in the place of the test's own
// socket, that no packet between two hosts has the state, the gradients, the options, the job id or
// the token.
func TestInteropTcpdumpHosts(t *testing.T) {
	program(t, "tcpdump", "tcpdump")
	j := &tappedJob{newBox(t), newHosts(t, 2, ""), token.New(), fmt.Sprintf("witnessed-%d", time.Now().UnixNano())}
	file := j.path("packets")
	line := j.hosts[1].Command("tcpdump", "-i", "eth0", "-U", "-n", "-B", "65536", "-Z", "root", "-w", file)
	p := j.startProgram(line[0], line[1:]...)
	p.await("listening on eth0")
	j.train(1)
	j.train(20, "--resume", "must")
	p.signal(syscall.SIGINT)
	if e := p.wait(); e.code != 0 || !strings.Contains(e.stderr, "\n0 packets dropped by kernel") {
		t.Fatalf("tcpdump ended with %d\n%s", e.code, e.stderr)
	}
	packets := captured(t, file)
	flows := streams(packets)
	for _, s := range j.secrets() {
		if n := s.found(packets, flows); n > 0 || len(s.samples) == 0 {
			t.Errorf("%s: %d of %d samples are in %d packets", s.what, n, len(s.samples), len(packets))
		}
	}
	if len(flows) < 4 { // control and two links, each in both directions
		t.Errorf("%d packets of %d flows: nothing is shown", len(packets), len(flows))
	}
}

// captured returns the packets of a file of tcpdump.
func captured(t *testing.T, name string) [][]byte {
	t.Helper()
	const fileHead, packetHead = 24, 16
	text, err := os.ReadFile(name)
	if err != nil || len(text) < fileHead {
		t.Fatalf("%s has %d bytes: %v", name, len(text), err)
	}
	var packets [][]byte
	for rest := text[fileHead:]; len(rest) >= packetHead; {
		n := int(binary.LittleEndian.Uint32(rest[8:]))
		packets = append(packets, rest[packetHead:packetHead+n])
		rest = rest[packetHead+n:]
	}
	return packets
}

// TestInteropForeignClients verifies that openssl and curl get nothing from the ports of a job, and
// that the job goes on.
func TestInteropForeignClients(t *testing.T) {
	openssl, curl := program(t, "openssl", "openssl"), program(t, "curl", "curl")
	b := newBox(t).lasting(2 * time.Minute)
	p := b.start(append([]string{"run", "-np", "2", "--json"}, endless("--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)...)
	addresses := []string{p.meetingPlace()}
	p.await(`"event":"step"`)
	for _, rank := range []int{0, 1} {
		addresses = append(addresses, listeningOn(t, b.rankPID(rank))...)
	}
	for _, addr := range addresses {
		for _, line := range [][]string{
			{openssl, "s_client", "-quiet", "-connect", addr},
			{openssl, "s_client", "-quiet", "-alpn", "h2", "-connect", addr},
			{curl, "-sS", "--max-time", "20", "--http2-prior-knowledge", "http://" + addr + "/"},
			{curl, "-sS", "--max-time", "20", "-k", "https://" + addr + "/"},
			{curl, "-sS", "--max-time", "20", "--http0.9", "http://" + addr + "/"},
		} {
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Stdin = strings.NewReader("GET / HTTP/1.1\r\n\r\n")
			if out, err := cmd.Output(); len(out) > 0 || err == nil && line[0] == curl {
				t.Errorf("%s\ngets %q, %v", strings.Join(line, " "), out, err)
			}
		}
	}
	p.stepAfter(t, time.Now())
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 || strings.Contains(e.stdout, `"event":"generation"`) {
		t.Errorf("the job ended with %d, want 143 and one generation\n%s", e.code, e.stderr)
	}
}

// listeningOn returns the addresses on which a process listens.
func listeningOn(t *testing.T, pid int) []string {
	t.Helper()
	out, err := exec.Command("ss", "-Hltnp").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 3 && strings.Contains(line, fmt.Sprintf("pid=%d,", pid)) {
			list = append(list, f[3])
		}
	}
	return list
}
