package launch

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/ringtest"
)

// talk is a launcher's side of an agent in this process.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	to   *frameWriter
	out  *bufio.Reader
	code chan int
}

func startAgent(t *testing.T) *talk {
	t.Helper()
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	a := &talk{t, in, &frameWriter{w: in}, bufio.NewReader(outR), make(chan int, 1)}
	go func() {
		env := append(os.Environ(), testProgram+"=1", fastRace)
		a.code <- Agent(inR, out, env, "test")
		inR.Close() // like the end of the process
		out.Close()
	}()
	t.Cleanup(func() { in.Close(); outR.Close() })
	if err := skipBanner(a.out); err != nil {
		t.Fatal(err)
	}
	return a
}

func (t *talk) send(f frame) {
	t.t.Helper()
	if err := t.to.send(f); err != nil {
		t.t.Fatal(err)
	}
}

// greet sends orders and returns the answer.
func (t *talk) greet(o orders) (h hello) {
	t.t.Helper()
	t.send(frameOf(kindOrders, 0, o))
	if f := t.await(kindHello); f.decode(&h) != nil {
		t.t.Fatalf("hello is %q", f.payload)
	}
	return h
}

// await returns the next frame of a kind, and what the rank printed before it.
func (t *talk) await(kind byte) frame {
	t.t.Helper()
	for {
		f, err := readFrame(t.out)
		if err != nil {
			t.t.Fatalf("waiting for frame %c: %v", kind, err)
		}
		if f.kind == kind {
			return f
		}
	}
}

// ready waits until a rank says that it runs, and returns what it said.
func (t *talk) ready() string {
	t.t.Helper()
	var text strings.Builder
	for !strings.Contains(text.String(), "ready") || !strings.HasSuffix(text.String(), "\n") {
		text.Write(t.await(kindOut).payload)
	}
	return text.String()
}

func (t *talk) end() int {
	t.t.Helper()
	go io.Copy(io.Discard, t.out)
	select {
	case code := <-t.code:
		return code
	case <-time.After(patience):
		t.t.Fatal("the agent does not end")
		return 0
	}
}

var goodOrders = orders{Protocol: agentProtocol, Version: "test", Dir: os.TempDir(), Grace: patience}

func startOf(args ...string) startOrder {
	return startOrder{Program: append([]string{os.Args[0]}, args...), Env: []string{"RINGTRAIN_RANK=3"}, Of: 1}
}

// TestAgent verifies that an agent starts ranks, passes signals on to them, and reports how
// they end.
func TestAgent(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	if h := a.greet(goodOrders); h.Fault != nil || h.Version != "test" || len(h.Cores) == 0 || h.Notice != "" {
		t.Fatalf("hello is %+v", h)
	}
	a.send(frameOf(kindStart, 3, startOf("wait")))
	a.ready()
	a.send(frame{kind: kindBeat})
	a.send(frame{kindSignal, 3, []byte("15")})
	var said wireEnding
	if f := a.await(kindEnded); f.rank != 3 || f.decode(&said) != nil || said.Exit != 143 || said.Signal != 0 {
		t.Errorf("rank %d ended as %+v, want rank 3 with 143", f.rank, said)
	}
	a.await(kindCleared)
	a.send(frameOf(kindStart, 3, startOf("wait"))) // starts rank 3 again after its end
	a.ready()
	a.send(frame{kindSignal, 3, []byte("9")})
	if f := a.await(kindEnded); f.decode(&said) != nil || said.Signal != 9 {
		t.Errorf("rank ended as %+v, want signal 9", said)
	}
	a.await(kindCleared)
	a.in.Close()
	if code := a.end(); code != 0 {
		t.Errorf("the agent ended with %d", code)
	}
}

// TestAgentAlone verifies that an agent ends its ranks, also one that ignores TERM, when
// its input ends, when a frame makes no sense, or when a second launcher speaks.
func TestAgentAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		part string
		end  func(*talk)
	}{
		{"end=launcher", "stubborn", func(a *talk) { a.in.Close() }},
		{"end=torn frame", "wait", func(a *talk) { a.in.Write([]byte("K\x00")); a.in.Close() }},
		{"frame=unknown", "wait", func(a *talk) { a.send(frame{kind: '?'}) }},
		{"signal=unknown", "wait", func(a *talk) { a.send(frame{kindSignal, 3, []byte("65")}) }},
		{"taken=nonsense", "wait", func(a *talk) { a.send(frame{kindAck, 3, []byte("o")}) }},
		{"start=twice", "wait", func(a *talk) { a.send(frameOf(kindStart, 3, startOf("wait"))) }},
		{"start=nonsense", "wait", func(a *talk) { a.send(frame{kindStart, 4, []byte("x")}) }},
		{"start=no such seat", "wait", func(a *talk) { a.send(frameOf(kindStart, 4, startOrder{Program: []string{"x"}, Local: 1, Of: 1})) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t)
			a.greet(goodOrders)
			a.send(frameOf(kindStart, 3, startOf(tt.part)))
			a.ready()
			tt.end(a)
			var said wireEnding
			want := map[string]wireEnding{"stubborn": {Signal: int(syscall.SIGKILL)}, "wait": {Exit: 143}}[tt.part]
			if f := a.await(kindEnded); f.decode(&said) != nil || said.Signal != want.Signal || want.Signal == 0 && said.Exit != want.Exit {
				t.Errorf("rank ended as %+v, want %+v", said, want)
			}
			a.end()
		})
	}
}

// TestAgentTold verifies that an agent which a signal tells to end ends its ranks and
// reports how they end.
func TestAgentTold(t *testing.T) {
	t.Parallel()
	j := startRemote(t, "a:1", func(c *Config) {
		c.Program, c.Self = []string{"sh", "-c", `trap 'echo last words; exit 7' TERM; echo ready $$; while :; do sleep 0.05; done`}, false
	})
	syscall.Kill(parentOf(t, j.out.pidOf(t, 0)), syscall.SIGTERM)
	if r := j.wait(t); r.Code != 7 || j.fault != nil {
		t.Errorf("result %+v, error %v, want code 7", r, j.fault)
	}
	if !strings.HasSuffix(j.out.String(), "[0] last words\n") {
		t.Errorf("output is %q, want it to end with the last words", j.out)
	}
}

// TestAgentOrders verifies that an agent refuses orders of another version, and that it
// reports a working directory that it lacks.
func TestAgentOrders(t *testing.T) {
	t.Parallel()
	change := func(f func(*orders)) frame {
		o := goodOrders
		f(&o)
		return frameOf(kindOrders, 0, o)
	}
	tests := []struct {
		name   string
		orders frame
		code   int
		fault  string
		notice string
	}{
		{"version=another", change(func(o *orders) { o.Version = "other" }), exitcode.Protocol, "", ""},
		{"protocol=another", change(func(o *orders) { o.Protocol++ }), exitcode.Protocol, "", ""},
		{"orders=none", frame{kind: kindBeat}, exitcode.Protocol, "the first frame is not of orders", ""},
		{"orders=nonsense", frame{kind: kindOrders, payload: []byte("x")}, exitcode.Protocol, "invalid character", ""},
		{"folder=missing", change(func(o *orders) { o.Dir, o.MustDir = "/none", true }), exitcode.Usage, "--wdir is /none", ""},
		{"folder=missing by default", change(func(o *orders) { o.Dir = "/none" }), 0, "", "has no folder /none: ranks there run in "},
		{"launcher=out of reach", change(func(o *orders) { o.Rendezvous = []string{ringtest.RefusedAddress(t)} }), exitcode.Retry, "cannot reach the launcher", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := startAgent(t)
			a.send(tt.orders)
			var h hello
			if f := a.await(kindHello); f.decode(&h) != nil {
				t.Fatalf("hello is %q", f.payload)
			}
			fault := ""
			if h.Fault != nil {
				fault = h.Fault.Text
			}
			if !strings.Contains(fault, tt.fault) || (fault == "") != (tt.fault == "") || !strings.Contains(h.Notice, tt.notice) {
				t.Errorf("fault %q, notice %q, want %q, %q", fault, h.Notice, tt.fault, tt.notice)
			}
			a.in.Close()
			if code := a.end(); code != tt.code {
				t.Errorf("the agent ended with %d, want %d", code, tt.code)
			}
		})
	}
}

// TestAgentCannotStart verifies that an agent reports a rank that cannot be started.
func TestAgentCannotStart(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	a.greet(goodOrders)
	a.send(frameOf(kindStart, 3, startOrder{Program: []string{"no-such-program-anywhere"}, Of: 1}))
	var said wireFault
	if f := a.await(kindFault); f.rank != 3 || f.decode(&said) != nil || said.Code != exitcode.NotFound {
		t.Errorf("fault of rank %d is %+v, want rank 3 with 127", f.rank, said)
	}
	a.in.Close()
	a.end()
}

// TestBindCore verifies that bound ranks run on their own cores, and learn as many threads
// as they have cores.
func TestBindCore(t *testing.T) {
	t.Parallel()
	cores := process.OwnCores()
	if len(cores) < 2 {
		t.Skip("binding shows on two cores or more only")
	}
	j := startJob(t, 2, func(c *Config) { c.Bind = process.BindCore }, "cores")
	j.wait(t)
	for rank := range 2 {
		share := process.Share(cores, rank, 2)
		want := "[" + string(rune('0'+rank)) + "] " + strings.TrimSpace(strings.Join(append([]string{process.CoresText(share)}, process.ThreadVariables(share, len(cores), 2)...), " ")) + "\n"
		if !bytes.Contains([]byte(j.out.String()), []byte(want)) {
			t.Errorf("output is %q, want %q in it", j.out, want)
		}
	}
	if now := process.OwnCores(); len(now) != len(cores) {
		t.Errorf("the launcher is on the cores %v, was on %v", now, cores)
	}
}
