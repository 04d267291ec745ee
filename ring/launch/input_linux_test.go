package launch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInputOfRemoteRank runs a launcher whose rank 0 is on another host, and rank 1 behind that.
// It verifies that rank 0 reads the whole standard input of the launcher, and rank 1 none.
func TestInputOfRemoteRank(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := range 40_000 { // several windows
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for name, input := range map[string][]byte{"input=none": nil, "input=short": []byte("a word"), "input=long": text.Bytes()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "launcher", "digest")
			cmd.Env = append(os.Environ(), testProgram+"=1", testSSH+"="+fakeSSH(t), fastRace)
			cmd.Stdin = bytes.NewReader(input)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for rank, part := range [][]byte{input, nil} {
				if want := fmt.Sprintf("[%d] read %x\n", rank, sha256.Sum256(part)); !strings.Contains(string(out), want) {
					t.Errorf("rank %d did not read its %d bytes, want %q:\n%s", rank, len(part), want, out)
				}
			}
		})
	}
}

// TestInputOnDemand verifies that the launcher reads a chunk of the input for each request and
// not more, and that the end of the input is sent for each later request.
func TestInputOnDemand(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g, done := testLogin(), make(chan struct{})
	f := &inputFeed{file: r, wants: make(chan *login, 1), done: done}
	next := func() string {
		f.ask(g)
		got := <-g.outbox
		if got.kind != kindInput || got.rank != 0 {
			t.Fatalf("frame %q of rank %d, want input of rank 0", got.kind, got.rank)
		}
		return string(got.payload)
	}
	io.WriteString(w, "first")
	if got := next(); got != "first" {
		t.Errorf("chunk %q, want what was there", got)
	}
	io.WriteString(w, "second")
	if n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ); n != len("second") || err != nil {
		t.Errorf("%d bytes are left in the pipe without a request, error %v, want those of the second chunk", n, err)
	}
	w.Close()
	for _, want := range []string{"second", "", ""} {
		if got := next(); got != want {
			t.Errorf("chunk %q, want %q", got, want)
		}
	}
	close(done)
}

// TestRankInputWaits verifies that an agent asks for more input only when the rank's pipe has
// taken the chunk before, and that the end of the rank ends a write that nobody reads.
func TestRankInputWaits(t *testing.T) {
	in, end, err := newRankInput()
	if err != nil {
		t.Fatal(err)
	}
	asks, over := make(chan struct{}, 8), make(chan struct{})
	go func() { in.copy(func() { asks <- struct{}{} }); close(over) }()
	chunk := make([]byte, maxInput) // as much as the pipe holds
	for range 2 {
		<-asks
		if !in.put(chunk) {
			t.Fatal("no room for a chunk that was asked for")
		}
	}
	if len(asks) > 0 {
		t.Error("more is asked for while nobody has read the first chunk")
	}
	if _, err := io.CopyN(io.Discard, end, maxInput); err != nil {
		t.Fatal(err)
	}
	<-asks
	in.put(chunk)
	in.end()
	<-over
	end.Close()
	for range maxChunks {
		in.put(nil)
	}
	if in.put(nil) || (*rankInput)(nil).put(nil) {
		t.Error("chunks that nobody asked for are accepted without bound")
	}
}
