package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// A floodKind is what each connection of a flood does.
type floodKind struct {
	name string
	do   func(c net.Conn)
}

// floodKinds returns the kinds. The last bytes of each are left to the port: a connection then waits
// until the port closes it.
func floodKinds() []floodKind {
	hello := clientHello()
	wrong := token.New()
	send := func(b []byte) func(net.Conn) { return func(c net.Conn) { c.Write(b) } }
	return []floodKind{
		{"one_byte", send(hello[:1])},
		{"half_a_hello", send(hello[:len(hello)/2])},
		{"half_a_hello_in_clear", send([]byte(token.Preamble + "0123456789"))},
		{"random", func(c net.Conn) {
			b := make([]byte, 4096)
			rand.Read(b)
			c.Write(b)
		}},
		{"TLS_without_a_proof", func(c net.Conn) { tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake() }},
		{"wrong_token", func(c net.Conn) {
			wrong.DialTLS(context.Background(), c, token.Request{Purpose: token.Control, JobID: "flood"})
		}},
		{"HTTP2", send([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))},
		{"ssh", send([]byte("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"))},
	}
}

// clientHello returns the first record of a client that speaks TLS 1.3.
func clientHello() []byte {
	a, b := net.Pipe()
	defer b.Close()
	go tls.Client(a, &tls.Config{InsecureSkipVerify: true}).Handshake()
	record := make([]byte, 1<<14)
	n, _ := b.Read(record)
	return record[:n]
}

// A flood opens connections from a host.
type flood struct {
	from    netns.Host
	sources []string // addresses of the host
	kind    floodKind
	targets atomic.Pointer[[]string]
	made    atomic.Int64
	failed  atomic.Int64 // refused or not answered
	stop    chan struct{}
	workers sync.WaitGroup
}

// floodWide is the number of connections that a flood has open: more than the seats of the ports of
// a launcher and four ranks.
const floodWide = 1500

func (f *flood) begin(t *testing.T) {
	f.stop = make(chan struct{})
	for i := range floodWide {
		f.workers.Go(func() { f.work(i) })
	}
	t.Cleanup(f.end)
}

func (f *flood) end() {
	select {
	case <-f.stop:
	default:
		close(f.stop)
	}
	f.workers.Wait()
}

func (f *flood) ended() bool {
	select {
	case <-f.stop:
		return true
	default:
		return false
	}
}

// work opens one connection after the other.
func (f *flood) work(worker int) {
	for i := worker; !f.ended(); i++ {
		targets := f.targets.Load()
		if targets == nil || len(*targets) == 0 {
			pause(5 * time.Millisecond)
			continue
		}
		c, err := dialFrom(context.Background(), f.from, f.sources[worker%len(f.sources)], (*targets)[i%len(*targets)])
		if err != nil {
			f.failed.Add(1)
			pause(5 * time.Millisecond)
			continue
		}
		f.made.Add(1)
		c.SetDeadline(time.Now().Add(6 * time.Second)) // longer than a seat
		f.kind.do(c)
		io.Copy(io.Discard, c)
		c.(*net.TCPConn).SetLinger(0) // leaves no port in TIME_WAIT
		c.Close()
	}
}

// aim keeps the targets up to date: all ports of the hosts' jobs.
func (f *flood) aim(hosts []netns.Host) {
	for !f.ended() {
		var all []string
		for _, h := range hosts {
			all = append(all, listeners(h)...)
		}
		f.targets.Store(&all)
		pause(50 * time.Millisecond)
	}
}

var listenLine = regexp.MustCompile(`^LISTEN\s+\d+\s+\d+\s+(\S+):(\d+)\s`)

// listeners returns the addresses on which the programs of a host listen for other hosts, sshd apart.
func listeners(h netns.Host) []string {
	argv := h.Command("ss", "-Hltn")
	out, _ := exec.Command(argv[0], argv[1:]...).Output()
	var list []string
	for line := range strings.Lines(string(out)) {
		if m := listenLine.FindStringSubmatch(line); m != nil && m[2] != "2222" && !strings.HasPrefix(m[1], "127.") && m[1] != "[::1]" {
			list = append(list, net.JoinHostPort(h.Addr, m[2]))
		}
	}
	return list
}

// A weight is what the processes of a job need, by role.
type weight struct {
	peak map[string]int64 // bytes of resident memory
	cpu  map[int]float64  // seconds, by process
	stop chan struct{}
	done chan struct{}
}

// weigh watches the processes of a box until the end of b.
func weigh(b *box, launcher int) *weight {
	w := &weight{peak: map[string]int64{}, cpu: map[int]float64{}, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(50 * time.Millisecond):
				w.look(b, launcher)
			}
		}
	}()
	return w
}

func (w *weight) look(b *box, launcher int) {
	for pid, env := range b.processes() {
		role := "agent"
		if m := rankVariable.FindSubmatch(env); m != nil {
			role = "rank " + string(m[1])
		} else if pid == launcher {
			role = "launcher"
		}
		if g, ok := gaugeOf(pid); ok {
			w.peak[role] = max(w.peak[role], g.rss)
		}
		w.cpu[pid] = cpuOf(pid)
	}
}

func (w *weight) end() {
	close(w.stop)
	<-w.done
}

func (w *weight) seconds() (sum float64) {
	for _, s := range w.cpu {
		sum += s
	}
	return sum
}

// cpuOf returns the processor time of a process.
func cpuOf(pid int) float64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// flooded is a job over ssh on two hosts, with a stranger on a third.
type flooded struct {
	*cluster
	job []string
}

func newFlooded(t *testing.T, steps int, files string) *flooded {
	hosts := newHosts(t, 3, "")
	c := clusterOf(t, hosts, 2)
	f := &flooded{c, digits(steps, "--set", "model.kind=mlp", "--set", "model.hidden=[64]", "--set", "allreduce.codec=none", "--set", "log.every=1", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")}
	f.box = f.lasting(4 * time.Minute)
	if files != "" {
		f.limitFiles(files)
	}
	return f
}

// limitFiles limits the open files of the launcher and, on the hosts, of the agents and ranks.
func (f *flooded) limitFiles(n string) {
	f.write("limited", "#!/bin/sh\nulimit -n "+n+"\nexec \"$@\"\n")
	if err := os.Chmod(f.path("limited"), 0o755); err != nil {
		f.Fatal(err)
	}
}

// start starts two ranks on each host.
func (f *flooded) start() *testProcess {
	f.Helper()
	list := fmt.Sprintf("%s:2,%s:2", f.hosts[0].Addr, f.hosts[1].Addr)
	line := append([]string{self(f.box), "run", "--ssh", f.ssh, "-H", list, "--restarts", "1"}, f.job...)
	if _, err := os.Stat(f.path("limited")); err == nil {
		line = append([]string{f.path("limited")}, line...)
	}
	argv := f.hosts[0].Command(line...)
	return f.startProgram(argv[0], argv[1:]...)
}

// await returns after a number of connections.
func (f *flooded) await(by *flood, least int64) {
	f.Helper()
	if by != nil {
		eventually(f, time.Minute, fmt.Sprintf("%d connections are made", least), func() bool { return by.made.Load() >= least })
	}
}

// A pace is how a job went.
type pace struct {
	digest  string
	started time.Duration // from the command to the first step
	back    time.Duration // from the kill to the next step
	longest time.Duration // the longest time between two steps of one generation
	took    float64       // seconds of training
	weight  *weight
}

// goThrough runs the job, kills rank 3 after some connections of a flood, and ends the flood some
// connections later, when the rank is back. It returns the pace.
func (f *flooded) goThrough(by *flood, least int64) pace {
	f.Helper()
	p := f.start()
	w := weigh(f.box, p.cmd.Process.Pid)
	p.await(`"event":"step"`)
	f.await(by, least/2)
	at := time.Now()
	kill(f, f.rankPID(3), syscall.SIGKILL)
	p.await(`"generation":2,`)
	p.stepAfter(f, time.Now())
	f.await(by, least)
	if by != nil {
		by.end()
	}
	e := p.wait()
	w.end()
	if e.code != 0 {
		f.Fatalf("ended with %d\n%s", e.code, withoutSteps(e.stderr))
	}
	r := pace{digest: e.digest(f), weight: w, took: e.only(f, "done").num("took_s")}
	var last time.Time
	for _, v := range parsed(e.stdout) {
		switch v.name() {
		case "generation":
			last = time.Time{}
		case "step":
			if r.started == 0 {
				r.started = v.at().Sub(p.began)
			}
			if !last.IsZero() {
				r.longest = max(r.longest, v.at().Sub(last))
			} else if v.at().After(at) {
				r.back = v.at().Sub(at)
			}
			last = v.at()
		}
	}
	f.nothingLeft(20*time.Second, nil)
	return r
}

// floodMemory is how much a process may grow in a flood.
const floodMemory = 32 << 20

// floodTimes returns the bounds of times in a flood: until a killed rank is back, and of a step. The
// flood takes the same processors. Where other tests do so, too, the bounds tell a hang alone.
func floodTimes(full bool) (back, step time.Duration) {
	if full {
		return 5 * time.Second, 5 * time.Second
	}
	return 40 * time.Second, 40 * time.Second
}

// TestAttackFlood opens 10,000 connections of each kind from an address of their own to all ports
// of a job that starts, runs and replaces a killed rank. It verifies that the job ends with the
// digest of an undisturbed one, that the rank is soon back, and that no process grows.
func TestAttackFlood(t *testing.T) {
	least, steps := int64(2000), 2000
	all := attacks(t)
	if all {
		least, steps = 10_000, 5000
	}
	rows := table{title: "\n| connections | files | made | refused | first step | rank back | longest step | job took | job's CPU | flood's CPU | most memory more |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"}
	for _, kind := range floodKinds() {
		for _, files := range []string{"", "1024"} {
			if !all && (kind.name != "TLS_without_a_proof" || files == "") {
				continue
			}
			t.Run("kind="+kind.name+"/files="+files, func(t *testing.T) {
				j := newFlooded(t, steps, files)
				calm := j.goThrough(nil, 0)
				f := &flood{from: j.hosts[2], sources: []string{j.hosts[2].Addr}, kind: kind}
				before := ownCPU()
				f.begin(t)
				go f.aim(j.hosts[:2])
				got := j.goThrough(f, least)
				rows.add(got.row(kind.name, files, f, calm, ownCPU()-before))
				got.judge(t, calm, all)
			})
		}
	}
	rows.print()
}

// judge compares a job in a flood with a calm one.
func (p pace) judge(t *testing.T, calm pace, full bool) {
	t.Helper()
	back, step := floodTimes(full)
	if p.digest != calm.digest {
		t.Errorf("digest %s, want %s of the undisturbed job", p.digest, calm.digest)
	}
	if p.back == 0 || p.back > back {
		t.Errorf("the killed rank was back after %v, want %v at most", p.back, back)
	}
	if p.longest > step {
		t.Errorf("a step took %v, want %v at most", p.longest, step)
	}
	for role, peak := range p.weight.peak {
		if more := peak - calm.weight.peak[role]; more > floodMemory && calm.weight.peak[role] > 0 {
			t.Errorf("%s had %d MiB more than undisturbed, want at most %d", role, more>>20, floodMemory>>20)
		}
	}
}

func (p pace) row(kind, files string, f *flood, calm pace, cpu float64) string {
	more, who := int64(0), ""
	for role, peak := range p.weight.peak {
		if grown := peak - calm.weight.peak[role]; grown >= more {
			more, who = grown, role
		}
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %.2f s (%.2f) | %.2f s (%.2f) | %.2f s (%.2f) | %.1f s (%.1f) | %.1f s (%.1f) | %.1f s | %.1f MiB, %s |", kind, files, f.made.Load(), f.failed.Load(),
		p.started.Seconds(), calm.started.Seconds(), p.back.Seconds(), calm.back.Seconds(), p.longest.Seconds(), calm.longest.Seconds(), p.took, calm.took,
		p.weight.seconds(), calm.weight.seconds(), cpu, float64(more)/(1<<20), who)
}

// ownCPU returns the processor time of this process.
func ownCPU() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// TestAttackFloodOfAddresses opens connections from 300 addresses before a job starts, and keeps
// them coming. It verifies that the job starts soon.
func TestAttackFloodOfAddresses(t *testing.T) {
	full := attacks(t)
	j := newFlooded(t, 2000, "1024") // so long that rank 3 is still there at its kill
	stranger := j.hosts[2]
	var batch bytes.Buffer
	f := &flood{from: stranger}
	for i := range 300 {
		f.sources = append(f.sources, fmt.Sprintf("10.232.%d.%d", i/200, i%200+1))
		fmt.Fprintf(&batch, "addr add %s/16 dev eth0\n", f.sources[i])
	}
	argv := stranger.Command("ip", "-batch", "-")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = &batch
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("addresses: %v\n%s", err, out)
	}
	for _, h := range j.hosts[:2] {
		onHost(t, h, "ip route add 10.232.0.0/16 dev eth0")
	}
	calm := j.goThrough(nil, 0)
	f.kind = floodKinds()[1]
	f.begin(t)
	go f.aim(j.hosts[:2])
	got := j.goThrough(f, 2000)
	t.Logf("first step after %v (undisturbed %v), %d connections", got.started, calm.started, f.made.Load())
	got.judge(t, calm, full)
	limit := 40 * time.Second
	if full {
		limit = 10 * time.Second
	}
	if got.started > limit {
		t.Errorf("the first step came after %v, want %v at most", got.started, limit)
	}
}
