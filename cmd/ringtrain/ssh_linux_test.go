package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// cluster has hosts that are network namespaces, each with an sshd. All have the
// machine's files and a separate home.
type cluster struct {
	*box
	hosts []netns.Host
	ssh   string // login command
	home  string
	keys  string // file of authorized keys
}

// newCluster starts sshd on the first n of hosts, or skips the test if that is
// impossible.
func newCluster(t *testing.T, hosts, n int) *cluster {
	t.Helper()
	if os.Getenv("RINGTRAIN_NETNS") == "" {
		t.Skip("set RINGTRAIN_NETNS=1 and run as root to test over network namespaces")
	}
	return clusterOf(t, newHosts(t, hosts, ""), n)
}

// clusterOf is newCluster for hosts that are there.
func clusterOf(t *testing.T, hosts []netns.Host, n int) *cluster {
	t.Helper()
	const sshd = "/usr/sbin/sshd"
	for program, pkg := range map[string]string{sshd: "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the program %s is missing, want the package %s", program, pkg)
		}
	}
	c := &cluster{box: newBox(t), hosts: hosts, home: t.TempDir()}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd's folder, which its package makes at boot
		t.Skip(err)
	}
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	host, client := c.key(dir, "host"), c.key(dir, "client")
	c.keys = file("authorized_keys", client.public, 0o600)
	config := file("sshd_config", strings.Join([]string{
		"Port 2222", "HostKey " + host.path, "AuthorizedKeysFile " + c.keys, "PidFile none", "PermitRootLogin prohibit-password",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no", "UseDNS no", "StrictModes no", "MaxStartups 100",
		"SetEnv " + asRingtrain + "=1 " + inBox + c.dir + " HOME=" + c.home + " \"" + underRace + "\"", "",
	}, "\n"), 0o600)
	var known strings.Builder
	for _, h := range c.hosts {
		fmt.Fprintf(&known, "[%s]:2222 %s", h.Addr, host.public)
	}
	c.ssh = "ssh -F " + file("config", strings.Join([]string{
		"Port 2222", "User root", "IdentityFile " + client.path, "IdentitiesOnly yes", "UserKnownHostsFile " + file("known_hosts", known.String(), 0o600),
		"GlobalKnownHostsFile /dev/null", "StrictHostKeyChecking yes", "BatchMode yes", "",
	}, "\n"), 0o600)
	for _, h := range c.hosts[:n] {
		argv := h.Command(sshd, "-D", "-e", "-f", config)
		b := newBox(t)
		b.env = []string{"PATH=" + os.Getenv("PATH")}
		b.startWithin(hours, argv[0], argv[1:]...).await("Server listening on")
	}
	return c
}

// A key is a key pair for ssh.
type key struct{ path, public string }

func (c *cluster) key(dir, name string) key {
	c.Helper()
	k := key{path: filepath.Join(dir, name)}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", k.path).CombinedOutput(); err != nil {
		c.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	k.public = readFile(c.T, k.path+".pub")
	return k
}

// launch starts run on the first host, over slots on hosts with given numbers.
func (c *cluster) launch(slots map[int]int, args ...string) *testProcess {
	c.Helper()
	var list []string
	for i, h := range c.hosts {
		if slots[i] > 0 {
			list = append(list, fmt.Sprintf("%s:%d", h.Addr, slots[i]))
		}
	}
	argv := c.hosts[0].Command(append([]string{self(c.box), "run", "--ssh", c.ssh, "-H", strings.Join(list, ",")}, args...)...)
	return c.startProgram(argv[0], argv[1:]...)
}

// TestSSHSameBits verifies that training over hosts by ssh gives the digest of one host.
func TestSSHSameBits(t *testing.T) {
	c := newCluster(t, 3, 3)
	job := []string{"linear", "--json", "--set", "train.steps=20", "--set", "export.if=always", "--set", "allreduce.levels=flat"}
	want := newBox(t).must(0, append([]string{"run", "-np", "4"}, job...)...).digest(t)
	for name, slots := range map[string]map[int]int{"launcher's host too": {0: 2, 1: 2}, "others only": {1: 2, 2: 2}, "every host": {0: 1, 1: 2, 2: 1}} {
		e := c.launch(slots, job...).wait()
		if e.code != 0 {
			t.Fatalf("hosts=%s: ended with %d\n%s", name, e.code, e.stderr)
		}
		if got := e.digest(t); got != want {
			t.Errorf("hosts=%s: digest %s, want %s as on one host", name, got, want)
		}
		if n := float64(len(slots)); e.only(t, "start").num("hosts") != n || !strings.Contains(e.stderr, fmt.Sprintf("4 ranks on %.0f hosts · ", n)) {
			t.Errorf("hosts=%s: not told of %.0f hosts\n%s", name, n, e.stderr)
		}
	}
	c.nothingLeft(5*time.Second, nil)
}

// TestSSHLoginScript verifies that a script in the place of ssh, which starts ssh as a child, passes
// on the standard input of rank 0, that TERM holds for it, and that nothing is left.
func TestSSHLoginScript(t *testing.T) {
	c := newCluster(t, 2, 2)
	c.write("login", "#!/bin/sh\n"+c.ssh+" \"$@\"\ntrue\n")
	if err := os.Chmod(c.path("login"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.ssh = c.path("login")
	argv := c.hosts[0].Command(self(c.box), "run", "--ssh", c.ssh, "-H", c.hosts[1].Addr, "wc", "-l")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, strings.NewReader(strings.Repeat("a line\n", 100_000))
	if out, err := cmd.Output(); err != nil || string(out) != "[0] 100000\n" {
		t.Errorf("output %q, error %v, want 100000 lines", out, err)
	}
	p := c.launch(map[int]int{0: 1, 1: 1}, endless()...)
	p.await("step 20 ")
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("ended with %d, want 143\n%s", e.code, e.stderr)
	}
	c.nothingLeft(5*time.Second, nil)
}

// TestSSHHostfile verifies the placement of ranks by a hostfile.
func TestSSHHostfile(t *testing.T) {
	c := newCluster(t, 3, 3)
	c.write("hosts", fmt.Sprintf("# three\n%s slots=2\n%s\n%s slots=1 max_slots=4\n", c.hosts[0].Addr, c.hosts[1].Addr, c.hosts[2].Addr))
	argv := c.hosts[0].Command(append([]string{self(c.box), "run", "--ssh", c.ssh, "--hostfile", c.path("hosts")}, levelled(t)...)...)
	e := c.startProgram(argv[0], argv[1:]...).wait()
	wantSame(t, e)
	if n := e.only(t, "start").num("hosts"); n != 3 {
		t.Errorf("the ranks are on %v hosts, want 3", n)
	}
}

// TestSSHSecret verifies that ranks on all hosts have a file of the token and the variables of -x, that no command line and
// no environment on a host shows the token, that no command line shows the variables, and that the files go with the job.
func TestSSHSecret(t *testing.T) {
	c := newCluster(t, 2, 2)
	c.box = c.with("AWS_SECRET_ACCESS_KEY=" + secretKey)
	p := c.launch(map[int]int{0: 1, 1: 1}, endless("-x", "AWS_*")...)
	p.await("step 20 ")
	for rank := range 2 {
		if env := c.processes()[c.rankPID(rank)]; !bytes.Contains(env, []byte("\x00AWS_SECRET_ACCESS_KEY="+secretKey)) {
			t.Errorf("rank %d has not the variable of -x", rank)
		}
	}
	var files []string
	for rank := range 2 {
		file := regexp.MustCompile(`\x00RINGTRAIN_TOKEN_FILE=([^\x00]+)\x00`).FindSubmatch(c.processes()[c.rankPID(rank)])
		if file == nil {
			t.Fatalf("rank %d has no file of the token", rank)
		}
		files = append(files, string(file[1]))
	}
	digits := strings.TrimSpace(readFile(t, files[0]))
	if files[0] == files[1] || strings.TrimSpace(readFile(t, files[1])) != digits || !secret.MatchString(digits) {
		t.Errorf("the files %v of two hosts are one, or do not have one token", files)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		for _, name := range []string{"cmdline", "environ"} {
			if text, _ := os.ReadFile(filepath.Join(dir, name)); strings.Contains(string(text), digits) {
				t.Errorf("%s of %s has the token", name, dir)
			} else if name == "cmdline" && strings.Contains(string(text), secretKey) {
				t.Errorf("%s of %s has a variable of -x", name, dir)
			}
		}
	}
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("ended with %d, want 143\n%s", e.code, e.stderr)
	}
	c.nothingLeft(5*time.Second, nil)
	for _, name := range files {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left after the job", name)
		}
	}
}

// TestSSHKilled kills the launcher, and a rank on another host, by -9. It verifies that
// no processes are left and that the right rank is named.
func TestSSHKilled(t *testing.T) {
	c := newCluster(t, 3, 3)
	for _, who := range []string{"launcher", "rank"} {
		p := c.launch(map[int]int{0: 1, 1: 2, 2: 1}, endless("--resume", "never")...)
		p.await("step 20 ")
		if who == "launcher" {
			p.signal(syscall.SIGKILL)
			p.wait()
		} else {
			kill(t, c.rankPID(3), syscall.SIGKILL)
			e := p.wait()
			if want := "rank 3 on host " + c.hosts[2].Addr + " was killed by signal 9 (killed)"; e.code != 137 || !strings.Contains(e.last(), want) {
				t.Errorf("ended with %d and %q, want 137 and %q", e.code, e.last(), want)
			}
		}
		c.nothingLeft(15*time.Second, nil)
	}
}

// TestSSHRestarts verifies recovery under --restarts of a rank on another host.
func TestSSHRestarts(t *testing.T) {
	c := newCluster(t, 2, 2)
	want := newBox(t).must(0, append([]string{"run", "-np", "3"}, longDigits()...)...).digest(t)
	p := c.launch(map[int]int{0: 1, 1: 2}, append([]string{"--restarts", "1"}, longDigits()...)...)
	p.await(`"event":"step"`)
	kill(t, c.rankPID(2), syscall.SIGKILL)
	if e := p.wait(); e.code != 0 || e.digest(t) != want || !strings.Contains(e.stderr, "rank 2 on host "+c.hosts[1].Addr+" was killed") {
		t.Errorf("ended with %d and digest %s, want 0 and %s, and rank 2 and its host named\n%s", e.code, e.digest(t), want, e.stderr)
	}
	c.nothingLeft(5*time.Second, nil)
}

// TestSSHHostDown verifies that an unreachable host is named, and that no rank is
// started on the others.
func TestSSHHostDown(t *testing.T) {
	c := newCluster(t, 3, 2)
	e := c.launch(map[int]int{0: 1, 1: 1, 2: 1}, "--output-dir", "out", "linear").wait()
	if want := "host " + c.hosts[2].Addr + " cannot be reached: ssh: connect to host " + c.hosts[2].Addr + " port 2222: Connection refused"; e.code != 138 || !strings.Contains(e.last(), want) {
		t.Errorf("ended with %d and %q, want 138 and %q", e.code, e.last(), want)
	}
	for _, name := range c.files() {
		if c.read(name) != "" {
			t.Errorf("%s has %q: a rank was started", name, c.read(name))
		}
	}
	c.nothingLeft(5*time.Second, nil)
}

// TestSSHPush verifies that hosts with an empty home receive this program and train with
// it.
func TestSSHPush(t *testing.T) {
	c := newCluster(t, 3, 3)
	job := []string{"--push", "linear", "--json", "--set", "train.steps=20", "--set", "export.if=always", "--set", "allreduce.levels=flat"}
	for range 2 {
		if e := c.launch(map[int]int{1: 1, 2: 1}, job...).wait(); e.code != 0 {
			t.Fatalf("ended with %d\n%s", e.code, e.stderr)
		}
	}
	text, err := os.ReadFile(self(c.box))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	found, _ := filepath.Glob(filepath.Join(c.home, ".cache/ringtrain/bin/*/*"))
	if want := filepath.Join(c.home, ".cache/ringtrain/bin", hex.EncodeToString(sum[:]), "ringtrain"); len(found) != 1 || found[0] != want {
		t.Errorf("pushed are %q, want %s alone", found, want)
	}
}

// TestSSHHostReplaced disconnects a host with two ranks of four under --restarts, with
// free slots on another host of the list. It verifies that the job continues there with
// the same digest, and that processes on the lost host do no harm after its return.
func TestSSHHostReplaced(t *testing.T) {
	c := newCluster(t, 5, 5)
	c.ssh += " -o ServerAliveInterval=1" // notices the loss within 3 s
	want := newBox(t).must(0, append([]string{"run", "-np", "4"}, longDigits()...)...).digest(t)
	for name, layout := range map[string]struct {
		slots    map[int]int
		restarts string
		lost     int // host
	}{
		"ranks 0 and 1": {map[int]int{1: 2, 2: 1, 3: 1, 4: 2}, "3", 1},
		"ranks 1 and 2": {map[int]int{1: 1, 2: 2, 3: 1, 4: 2}, "4", 2},
	} {
		p := c.launch(layout.slots, append([]string{"-np", "4", "--restarts", layout.restarts}, longDigits()...)...)
		p.await(`"event":"step"`)
		unplug(t, c.hosts[layout.lost])
		p.await("started again: ")
		plug(t, c.hosts[layout.lost])
		e := p.wait()
		if e.code != 0 || e.digest(t) != want {
			t.Errorf("%s: ended with %d and digest %s, want 0 and %s\n%s", name, e.code, e.digest(t), want, e.stderr)
		}
		from, to := c.hosts[layout.lost].Addr, c.hosts[4].Addr
		if said := regexp.MustCompile("(?m)^host " + from + " was lost: .*; started again: ranks [012], [012] on host " + to + "[ ;]"); len(said.FindAllString(e.stderr, -1)) != 1 {
			t.Errorf("%s: %s is not said once\n%s", name, said, e.stderr)
		}
		c.nothingLeft(40*time.Second, nil)
	}
}

// TestSSHAgentKilled kills the login to the only host, whose ranks then all receive
// TERM. It verifies that this is no signal to the job and the job restarts under
// --restarts.
func TestSSHAgentKilled(t *testing.T) {
	c := newCluster(t, 2, 2)
	want := newBox(t).must(0, append([]string{"run", "-np", "2"}, longDigits()...)...).digest(t)
	p := c.launch(map[int]int{1: 2}, append([]string{"--restarts", "2"}, longDigits()...)...)
	p.await(`"event":"step"`)
	_, agent := stateOf(c.rankPID(0))
	kill(t, agent, syscall.SIGKILL)
	p.await("; started again: ranks 0, 1 there (0 restarts left)")
	if e := p.wait(); e.code != 0 || e.digest(t) != want {
		t.Errorf("ended with %d and digest %s, want 0 and %s\n%s", e.code, e.digest(t), want, e.stderr)
	}
	c.nothingLeft(15*time.Second, nil)
}

// TestSSHAgentStopped stops the agent of a host by SIGSTOP. It verifies that the silence is reported,
// that the wait is bounded, and that the host's rank does not disturb its successor.
func TestSSHAgentStopped(t *testing.T) {
	c := newCluster(t, 4, 4)
	p := c.launch(map[int]int{1: 1, 2: 1, 3: 1}, append([]string{"--restarts", "9"}, endless("--resume", "never")...)...)
	p.await("step 20 ")
	_, agent := stateOf(c.rankPID(1)) // of the second of three hosts
	kill(t, agent, syscall.SIGSTOP)
	name := c.hosts[2].Addr
	p.await("host " + name + ": its agent has said nothing for 5s; unheard: rank 1")
	p.await("host " + name + " was lost: its agent has said nothing for 30s; started again: rank 1 there")
	p.await("[0] generation 2")
	kill(t, agent, syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("ended with %d, want 143\n%s", e.code, e.stderr)
	}
	c.nothingLeft(15*time.Second, nil)
}
