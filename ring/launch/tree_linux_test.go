package launch

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// sevenHosts make three levels at fan-out 2:
//
//	launcher ─┬─ h0 ─┬─ h1
//	          │      └─ h2
//	          └─ h3 ─┬─ h4
//	                 └─ h5 ─── h6
const sevenHosts = "h0:1,h1:1,h2:1,h3:1,h4:1,h5:1,h6:1"

// startTree is startRemote with a fan-out.
func startTree(t *testing.T, hosts string, fanout int, change func(*Config), args ...string) *job {
	t.Helper()
	return startRemote(t, hosts, func(c *Config) {
		c.Fanout = fanout
		if change != nil {
			change(c)
		}
	}, args...)
}

// A dialled is one line that a fakeSSH has written.
type dialled struct {
	way  string // "launcher h0"
	pid  int
	line string
}

// dials returns what the job's fakeSSH was called for.
func (j *job) dials(t *testing.T) (list []dialled) {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(j.SSH[0]), "logins")) // without logins there is no file
	for _, m := range regexp.MustCompile(`(?m)^(\S+) (\d+) (.* -- (\S+) .*)$`).FindAllStringSubmatch(string(text), -1) {
		pid, _ := strconv.Atoi(m[2])
		list = append(list, dialled{m[1] + " " + m[4], pid, m[3]})
	}
	return list
}

// ways are who logged in to whom, sorted.
func (j *job) ways(t *testing.T) (list []string) {
	t.Helper()
	for _, d := range j.dials(t) {
		list = append(list, d.way)
	}
	slices.Sort(list)
	return list
}

// TestTreePlace verifies that hosts of a tree log in to each other, that their ranks learn
// their place, and that no argument shows the token.
func TestTreePlace(t *testing.T) {
	t.Parallel()
	meeting, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer meeting.Close()
	secret := token.New()
	j := startTree(t, sevenHosts, 2, func(c *Config) {
		c.Token, c.Reach, c.Behind = secret, []string{meeting.Addr().String()}, true
	}, "place")
	if r := j.wait(t); j.fault != nil || r.Code != 0 {
		t.Fatalf("result %+v, error %v\n%s%s", r, j.fault, j.out, j.err)
	}
	want := []string{"h0 h1", "h0 h2", "h3 h4", "h3 h5", "h5 h6", "launcher h0", "launcher h3"}
	if got := j.ways(t); !slices.Equal(got, want) {
		t.Errorf("logins are %q, want %q", got, want)
	}
	for _, d := range j.dials(t) {
		if !strings.Contains(d.line, "BatchMode=yes") || strings.Contains(d.line, secret.Reveal()) {
			t.Errorf("command line is %q, want BatchMode in it and no token", d.line)
		}
	}
	lines := strings.Split(j.out.String(), "\n")
	for rank := range 7 {
		for _, kv := range []string{
			fmt.Sprint("RINGTRAIN_RANK=", rank), "RINGTRAIN_WORLD_SIZE=7", "RINGTRAIN_TOKEN=" + secret.Reveal(),
			"RINGTRAIN_RENDEZVOUS=" + meeting.Addr().String(), fmt.Sprint("FAKE_HOST=h", rank),
		} {
			if !slices.Contains(lines, fmt.Sprintf("[%d] %s", rank, kv)) {
				t.Errorf("rank %d lacks %s", rank, kv)
			}
		}
	}
}

// TestTreeFlat verifies that few hosts, or fan-out 0, need no tree.
func TestTreeFlat(t *testing.T) {
	t.Parallel()
	for _, fanout := range []int{0, 3} {
		j := startTree(t, "a:1,b:1,c:1", fanout, nil, "exit", "0,0,0")
		if r := j.wait(t); r.Code != 0 || j.fault != nil {
			t.Errorf("fanout=%d: result %+v, error %v", fanout, r, j.fault)
		}
		if got, want := j.ways(t), []string{"launcher a", "launcher b", "launcher c"}; !slices.Equal(got, want) {
			t.Errorf("fanout=%d: logins are %q, want %q", fanout, got, want)
		}
	}
}

// TestTreeSignals verifies that signals reach hosts below others, and that the ends of
// their ranks are reported.
func TestTreeSignals(t *testing.T) {
	t.Parallel()
	j := startTree(t, sevenHosts, 2, nil, "wait")
	pids := j.out.pids(t, 7)
	j.signals <- syscall.SIGTERM
	if r := j.wait(t); r.Code != 143 || j.fault != nil {
		t.Errorf("result is %+v, error %v, want code 143", r, j.fault)
	}
	if got := strings.Count(j.out.String(), "got 15\n"); got != 7 {
		t.Errorf("%d of 7 ranks got the signal:\n%s", got, j.out)
	}
	for _, pid := range pids {
		awaitEnd(t, pid)
	}
}

// TestTreeHostLost verifies that the loss of an inner host ends the ranks below it, and
// that the result names that host.
func TestTreeHostLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		victim int
		lost   []int // ranks that are lost with the victim
	}{
		{3, []int{4, 5, 6}},
		{5, []int{6}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("victim=%d", tt.victim), func(t *testing.T) {
			t.Parallel()
			j := startTree(t, sevenHosts, 2, nil, "stubborn")
			pids := j.out.pids(t, 7)
			syscall.Kill(parentOf(t, j.out.pidOf(t, tt.victim)), syscall.SIGKILL)
			for _, rank := range append([]int{tt.victim}, tt.lost...) { // long before the end of the launcher's grace period
				awaitEnd(t, j.out.pidOf(t, rank))
			}
			j.hurry(syscall.SIGINT)
			r := j.wait(t)
			if want := fmt.Sprintf("rank %d on host h%d is lost: ssh ended with exit code", tt.victim, tt.victim); r.Code != 138 || !strings.HasPrefix(r.Text, want) {
				t.Errorf("result is %+v, want code 138 and %q", r, want)
			}
			want := []string{fmt.Sprintf("%d: host h%d is lost: ssh ended with exit code -1: 138", tt.victim, tt.victim)}
			for _, rank := range tt.lost {
				want = append(want, fmt.Sprintf("%d: host h%d is lost: host h%d, by which it was reached, is lost: ssh ended with exit code -1: 138", rank, rank, tt.victim))
			}
			if !slices.Equal(j.server.lost, want) {
				t.Errorf("rendezvous was told\n%s\nwant\n%s", strings.Join(j.server.lost, "\n"), strings.Join(want, "\n"))
			}
			for _, pid := range pids {
				awaitEnd(t, pid)
			}
		})
	}
}

// TestTreeFallback verifies that the launcher logs in to hosts that others cannot reach,
// and says so.
func TestTreeFallback(t *testing.T) {
	t.Parallel()
	var (
		mu      sync.Mutex
		notices []string
	)
	hosts := strings.Replace(sevenHosts, "h3", "shy", 1)
	j := startTree(t, hosts, 2, func(c *Config) {
		c.Notice = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			notices = append(notices, line)
		}
	}, "exit", "0,0,0,0,0,0,0")
	if r := j.wait(t); r.Code != 0 || j.fault != nil {
		t.Fatalf("result %+v, error %v\n%s", r, j.fault, j.err)
	}
	want := []string{"h0 h1", "h0 h2", "h5 h6", "launcher h0", "launcher h4", "launcher h5", "launcher shy", "shy h4", "shy h5"}
	if got := j.ways(t); !slices.Equal(got, want) {
		t.Errorf("logins are %q, want %q", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	text := strings.Join(notices, "\n")
	for pattern, n := range map[string]int{
		`(?m)^host shy cannot log in to h([45]): h[45]: Permission denied \(publickey\)\.; the launcher does it itself$`: 1,
		`cannot log in`: 1,
		`(?m)^the launcher had to log in to 2 hosts for others: --fanout 0 has it do so at once$`: 1,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(text, -1)); got != n {
			t.Errorf("%d notices like %s, want %d:\n%s", got, pattern, n, text)
		}
	}
}

// TestTreeLostWhileOpening verifies that a host that is lost during the start ends the
// start at once, and is the one named.
func TestTreeLostWhileOpening(t *testing.T) {
	t.Parallel()
	for hosts, fanout := range map[string]int{"h0:1,frail:1,slow:1,h3:1,h4:1,h5:1": 2, "frail:1,slow:1": 0} {
		t.Run(fmt.Sprintf("fanout=%d", fanout), func(t *testing.T) {
			t.Parallel()
			j := startTree(t, hosts, fanout, nil, "wait") // the slow host has five minutes
			j.wait(t)
			if want := "host frail is lost: its agent has ended"; exitcode.Of(j.fault) != exitcode.Retry || j.fault.Error() != want {
				t.Errorf("error %v with code %d, want %q with code 138", j.fault, exitcode.Of(j.fault), want)
			}
			for _, d := range j.dials(t) {
				awaitEnd(t, d.pid)
			}
		})
	}
}

// TestTreeUnreachable verifies that an unreachable host below others is named with ssh's
// words, and that untried hosts are only counted.
func TestTreeUnreachable(t *testing.T) {
	t.Parallel()
	const noRoute = " cannot be reached: ssh: connect to host "
	tests := []struct {
		name, hosts string
		code        int
		texts       []string // the named hosts
	}{
		{"host=below", "a:1,b:1,down:1,c:1", exitcode.Retry, []string{"host down" + noRoute}},
		{"hosts=one below the other", "a:1,down1:1,down2:1,c:1", exitcode.Retry, []string{"host down1" + noRoute, "host down2" + noRoute}},
		{"host=without ringtrain", "a:1,empty:1", exitcode.NotFound, []string{"ringtrain: not found on host empty, neither at /", " nor in the PATH that ssh gives there: install it there, or give --push"}},
		{"host=silent", "a:1,slow:1,c:1,d:1", exitcode.Retry, []string{"host slow cannot be reached: no answer in 1s; 2 hosts behind it not tried"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := startTree(t, tt.hosts, 1, func(c *Config) {
				if tt.name == "host=silent" {
					c.StartTimeout = time.Second
				}
			}, "wait")
			j.wait(t)
			if got := exitcode.Of(j.fault); got != tt.code {
				t.Errorf("error %v with code %d, want code %d", j.fault, got, tt.code)
			}
			for _, text := range tt.texts {
				if j.fault == nil || !strings.Contains(j.fault.Error(), text) {
					t.Errorf("error %v, want %q in it", j.fault, text)
				}
			}
			if got, want := strings.Count(fmt.Sprint(j.fault), "host "), strings.Count(strings.Join(tt.texts, "\n"), "host "); got != want {
				t.Errorf("error %v names %d hosts, want %d", j.fault, got, want)
			}
			if j.out.String() != "" {
				t.Errorf("ranks were started:\n%s", j.out)
			}
			for _, d := range j.dials(t) {
				awaitEnd(t, d.pid)
			}
		})
	}
}

// TestTreeSilentFirst verifies that hosts behind a silent host are tried without it.
func TestTreeSilentFirst(t *testing.T) {
	t.Parallel()
	j := startTree(t, "slow:1,b:1,c:1,d:1", 1, func(c *Config) { c.StartTimeout = 4 * time.Second }, "wait")
	j.wait(t)
	if text := fmt.Sprint(j.fault); exitcode.Of(j.fault) != exitcode.Retry || !strings.HasPrefix(text, "host slow cannot be reached: no answer in 2s") || strings.Contains(text, "behind host slow") {
		t.Errorf("error %v with code %d, want slow alone to be blamed with code 138", j.fault, exitcode.Of(j.fault))
	}
	if got := j.ways(t); !slices.Contains(got, "launcher b") {
		t.Errorf("logins are %q, want one of the launcher's to b", got)
	}
}

// TestTreeStartStopped verifies that SIGINT ends a start that waits for a host below
// others, and leaves no logins.
func TestTreeStartStopped(t *testing.T) {
	t.Parallel()
	j := startTree(t, "a:1,b:1,slow:1", 1, nil, "wait")
	if !eventually(func() bool { return slices.Contains(j.ways(t), "b slow") }, patience) {
		t.Fatalf("nobody logs in to the last host, only %q", j.ways(t))
	}
	j.signals <- syscall.SIGINT
	j.wait(t)
	if exitcode.Of(j.fault) != 130 || !strings.Contains(j.fault.Error(), "before all hosts had answered") {
		t.Errorf("error %v with code %d, want code 130", j.fault, exitcode.Of(j.fault))
	}
	for _, d := range j.dials(t) {
		awaitEnd(t, d.pid)
	}
}

// TestTreeRestart verifies that a killed rank below other hosts is started again.
func TestTreeRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := startTree(t, "a:1,b:1,c:1", 1, func(c *Config) {
		c.Server, c.Restarts, c.NP = &server{goes: true, left: 2}, 2, 2
		c.More = []App{{1, []string{os.Args[0], "flaky", dir, "138", "-9"}}}
	}, "exit", "0,0")
	if r := j.wait(t); r.Code != 0 || j.fault != nil {
		t.Errorf("result %+v, error %v, want code 0", r, j.fault)
	}
	if got := strings.Count(j.out.String(), "[2] start"); got != 3 {
		t.Errorf("%d starts, want 3:\n%s", got, j.out)
	}
}

// TestRelayHoldsBack verifies that a rank without credit waits, while signals to it and its
// end pass.
func TestRelayHoldsBack(t *testing.T) {
	t.Parallel()
	const most = 512 << 10 // the window and the rank's pipe hold much less
	a := startAgent(t)
	o := goodOrders
	o.Below, o.SSH, o.Self = branch{{1, "b", 1}, {2, "c", 1}}, []string{fakeSSH(t)}, os.Args[0]
	o.Fanout = 1
	a.greet(o)
	for range 2 {
		a.await(kindHello)
	}
	a.send(frameOf(kindStart, 2, 3, startOrder{Program: []string{"sh", "-c", "echo ready $$; exec cat /dev/zero"}, Of: 1}))
	pid, err := strconv.Atoi(strings.Fields(string(a.await(kindOut).payload))[1])
	if err != nil {
		t.Fatal(err)
	}
	written := func() (n int) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		fmt.Sscanf(string(text[max(0, strings.Index(string(text), "wchar")):]), "wchar: %d", &n)
		return n
	}
	before := -1
	if !eventually(func() bool {
		last := before
		before = written()
		return before > most || before == last && before > 64<<10
	}, patience) || before > most {
		t.Errorf("the rank has written %d bytes that nobody reads, want it to wait", before)
	}
	a.send(frame{kindSignal, 2, 3, []byte("9")})
	awaitEnd(t, pid)
	if f := a.await(kindEnded); f.host != 2 || f.rank != 3 {
		t.Errorf("rank %d of host %d ended, want 3 of 2", f.rank, f.host)
	}
	a.in.Close()
	if code := a.end(); code != 0 {
		t.Errorf("the agent ended with %d", code)
	}
}
