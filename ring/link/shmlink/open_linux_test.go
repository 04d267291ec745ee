package shmlink

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// wantPeer verifies that err of Open names a worker, with its host and address.
func wantPeer(t *testing.T, who string, err error, w ring.Worker) {
	t.Helper()
	pe, ok := errors.AsType[*ring.PeerError](err)
	if !ok || pe.Op != "memory" || pe.Rank != w.Rank || pe.Host != w.Host || pe.Addr != w.Addr {
		t.Errorf("%s: error %v, want a PeerError of the memory that names rank %d", who, err, w.Rank)
	}
}

// wantError verifies an error's exit code and words.
func wantError(t *testing.T, who string, err error, code int, words ...string) {
	t.Helper()
	if err == nil || exitcode.Of(err) != code {
		t.Errorf("%s: error %v with exit code %d, want %d", who, err, exitcode.Of(err), code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: error %q, want %q in it", who, err, w)
		}
	}
}

// TestWrongToken verifies that a worker with another token cannot join. Both workers wait for
// the right one until their contexts end, and then name the missing worker.
func TestWrongToken(t *testing.T) {
	ctx, cancel := context.WithCancelCause(testContext(t))
	m := memberships(t.Name(), 2)
	ended := make(chan error)
	go func() {
		_, err := open(ctx, t, m[leader], Config{Token: token.New()})
		ended <- err
	}()
	time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("enough")) })
	_, err := open(ctx, t, m[1], Config{Token: token.New()})
	wantError(t, "member", err, exitcode.Retry, "rank 1 (here)", "another token", "enough")
	wantError(t, "leader", <-ended, exitcode.Retry, "rank 3 (here) has not come", "enough")
}

// TestRefusedIsTold verifies that the error of a leader names the last refused connection,
// and that this keeps the leader's own exit code.
func TestRefusedIsTold(t *testing.T) {
	ctx, cancel := context.WithCancelCause(testContext(t))
	cancel(errors.New("enough"))
	g := meeting{host: newHost(memberships("job", 3)[leader])}
	err := g.absentError(ctx, 2, errors.New("its uid is 7"))
	wantError(t, "leader", err, exitcode.Retry, "rank 5 (here)", "enough", "refused: its uid")
}

// dialLeader connects to the leader's socket once it exists.
func dialLeader(t *testing.T, h host) *net.UnixConn {
	t.Helper()
	for ctx := testContext(t); ctx.Err() == nil; {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: h.address(), Net: "unixpacket"})
		if err == nil {
			t.Cleanup(func() { c.Close() })
			return c
		}
		runtime.Gosched()
	}
	t.Fatal("no leader listens")
	return nil
}

// TestStrangers verifies that strangers without the token cannot join, stop the leader, or
// delay it by silence, and that the leader's port counts them.
func TestStrangers(t *testing.T) {
	c := Config{Token: token.New()}
	c.Port = newPort(t, c.Token)
	m := memberships(t.Name(), 2)
	h := newHost(m[leader])
	type opened struct {
		mem ring.Memory
		err error
	}
	lead := make(chan opened)
	go func() {
		mem, err := Open(testContext(t), m[leader], c)
		lead <- opened{mem, err}
	}()
	preamble := append([]byte(token.Preamble), make([]byte, 32)...)
	said := [][][]byte{
		{[]byte("x")},
		{preamble[:9]},
		{preamble, []byte("no request")},
		{preamble, make([]byte, 2000)},
		{append(preamble, 0), make([]byte, 200)},
	}
	for _, packets := range said {
		c := dialLeader(t, h)
		for _, b := range packets {
			c.Write(b)
		}
		c.CloseWrite()
		for b := make([]byte, maxBytes); ; {
			if n, err := c.Read(b); err != nil || n == 0 {
				break // refused
			}
		}
	}
	for ctx := testContext(t); c.Port.Strangers().Closed != uint64(len(said)); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatalf("%d strangers are counted, want %d", c.Port.Strangers().Closed, len(said))
		}
	}
	dialLeader(t, h) // stays silent
	member, err := open(testContext(t), t, m[1], c)
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	got := <-lead
	if got.err != nil {
		t.Fatal(got.err)
	}
	got.mem.Close()
}

// TestTakenAddress verifies that a leader ends at once if another program has its address, and that a
// member does not believe that program.
func TestTakenAddress(t *testing.T) {
	m := memberships(t.Name(), 2)
	lis, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: newHost(m[leader]).address(), Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	go func() {
		c, err := lis.AcceptUnix()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, packetBytes))
		c.Write(make([]byte, 32)) // a nonce
		c.Read(make([]byte, packetBytes))
		c.Write(append([]byte{2, 0, 0}, make([]byte, 32)...)) // an answer without a proof
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = open(ctx, t, m[1], Config{Token: token.New()})
	wantError(t, "member", err, exitcode.Retry, "its proof of the token is wrong")
	_, err = open(testContext(t), t, m[leader], Config{})
	wantError(t, "leader", err, exitcode.Retry, "address already in use")
}

// TestLateLeader verifies that a member waits for a leader that starts late, or after another
// program has left the address.
func TestLateLeader(t *testing.T) {
	m := memberships(t.Name(), 2)
	h := newHost(m[leader])
	lis, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: h.address(), Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	member := make(chan error)
	go func() {
		mem, err := open(testContext(t), t, m[1], Config{})
		if err == nil {
			defer mem.Close()
		}
		member <- err
	}()
	c, err := lis.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	lis.Close()
	mem, err := open(testContext(t), t, m[leader], Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	if err := <-member; err != nil {
		t.Error(err)
	}
}

// TestAllAbsent verifies that a worker names the worker for which it waited until its
// context ended.
func TestAllAbsent(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(testContext(t))
	cancel(why)
	for i, who := range []string{"rank 3 (here)", "rank 1 (here)"} {
		m := memberships(t.Name(), 2)[i]
		_, err := open(ctx, t, m, Config{})
		wantPeer(t, "worker", err, m.Workers[3-2*i])
		wantError(t, "worker", err, exitcode.Retry, who, "enough")
		if !errors.Is(err, why) {
			t.Errorf("worker %d: error %v does not wrap the cause", i, err)
		}
	}
}

// joinAs joins the leader as a member, which has no memory yet.
func joinAs(t *testing.T, m ring.Membership) *net.UnixConn {
	t.Helper()
	c, err := meeting{host: newHost(m), identity: handshake.Identity{Membership: m}, turn: new(sync.Mutex)}.connect(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestOneAbsent verifies that the members that have joined learn which one is missing, and
// that of two connections of one worker the later one counts.
func TestOneAbsent(t *testing.T) {
	ctx, cancel := context.WithCancelCause(testContext(t))
	m := memberships(t.Name(), 3)
	ended := make(chan error)
	go func() {
		_, err := open(ctx, t, m[leader], Config{})
		ended <- err
	}()
	first, second := joinAs(t, m[1]), joinAs(t, m[1])
	if msg, err := receive(first); err == nil {
		t.Errorf("the leader says %+v, want that it ends the first connection", msg)
	}
	cancel(errors.New("enough"))
	msg, err := receive(second)
	if err != nil || msg.kind != grant || msg.status != lost || !strings.Contains(msg.text, "rank 5 (here)") {
		t.Errorf("the leader says %+v, %v, want that rank 5 has not come", msg, err)
	}
	err = <-ended
	wantError(t, "leader", err, exitcode.Retry, "rank 5 (here)", "enough")
	wantPeer(t, "leader", err, m[leader].Workers[5])
}

// TestMissingIsNamed verifies that a member whose context ends at the same time as its
// leader's names the missing worker and not the leader.
func TestMissingIsNamed(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("enough"))
	defer cancel()
	m := memberships(t.Name(), 4)
	errs := make(chan error)
	for local := range 3 {
		go func() {
			_, err := open(ctx, t, m[local], Config{})
			errs <- err
		}()
	}
	for range 3 {
		err := <-errs
		wantError(t, "worker", err, exitcode.Retry, "rank 7 (here) has not come", "enough")
		wantPeer(t, "worker", err, m[leader].Workers[7])
	}
}

// TestMemberDies verifies that workers name the one that has ended while they wait for
// others.
func TestMemberDies(t *testing.T) {
	m := memberships(t.Name(), 3)
	errs := make(chan error)
	start := func(local int) {
		_, err := open(testContext(t), t, m[local], Config{})
		errs <- err
	}
	go start(leader)
	joinAs(t, m[1]).Close()
	go start(2)
	for range 2 {
		err := <-errs
		wantError(t, "worker", err, exitcode.Retry, "rank 3 (here): it has gone")
		wantPeer(t, "worker", err, m[leader].Workers[3])
	}
}

// TestSpin verifies that workers spin if and only if each has a core.
func TestSpin(t *testing.T) {
	own := ownCores()
	for _, p := range []int{1, 2, 3, own.count() + 1} {
		want := spinChecks
		if p > own.count() {
			want = 0
		}
		for i, m := range openAll(t, p, Config{}) {
			if got := m.(*memory).spin; got != want {
				t.Errorf("p=%d, %d cores: worker %d looks %d times, want %d", p, own.count(), i, got, want)
			}
			m.Close()
		}
	}
	for spin, want := range map[int]int{-1: 0, 7: 7} {
		if got := openAll(t, 2, Config{Spin: spin})[1].(*memory).spin; got != want {
			t.Errorf("spin=%d: looks %d times, want %d", spin, got, want)
		}
	}
}

// openResources counts the descriptors and mappings of this process that belong to a
// memory.
func openResources(t *testing.T) (descriptors, mappings int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && (strings.Contains(to, "ringtrain") || strings.HasPrefix(to, "socket:")) {
			descriptors++
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return descriptors, strings.Count(string(maps), "memfd:ringtrain")
}

// TestNothingIsLeft verifies that a memory keeps no descriptor of what it has mapped, and
// that Close leaves no socket and no mapping behind.
func TestNothingIsLeft(t *testing.T) {
	const p = 3
	fds, maps := openResources(t)
	all := openAll(t, p, Config{})
	done := make(chan error)
	for _, m := range all {
		go func() {
			_, err := m.Arena(t.Context(), 5000)
			done <- err
		}()
	}
	for range all {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if f, m := openResources(t); f != fds+2*(p-1) || m != maps+2*p {
		t.Errorf("%d descriptors and %d mappings more, want %d and %d", f-fds, m-maps, 2*(p-1), 2*p)
	}
	for _, m := range all {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if f, m := openResources(t); f != fds || m != maps {
		t.Errorf("%d descriptors and %d mappings are left, want 0", f-fds, m-maps)
	}
}

// TestAddress verifies that workers of another job, fence or incarnation have another address,
// and that a long job id makes a valid address.
func TestAddress(t *testing.T) {
	long := strings.Repeat("j", 1000)
	m := memberships(long, 2)[0]
	later, rival, other := m, m, m
	later.Generation++
	rival.Issuer++
	other.Life[0]++
	reborn := memberships(long, 2)[0]
	reborn.Workers[3].Incarnation++
	seen := map[string]bool{}
	for _, m := range []ring.Membership{m, later, rival, other, reborn, memberships("job", 2)[0], memberships("job", 3)[0]} {
		a := newHost(m).address()
		if seen[a] || len(a) > 100 {
			t.Errorf("address %q is another one's or too long", a)
		}
		seen[a] = true
	}
	if a, b := newHost(memberships(long, 2)[1]).address(), newHost(m).address(); a != b {
		t.Errorf("two workers of a host would meet at %q and %q", a, b)
	}
}
