package launch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/token"
)

// testProgram is set for processes of this binary that play a rank, a rank's
// child or a launcher; their first argument says which.
const testProgram = "LAUNCH_TEST_PROGRAM"

// testSSH names the program that a launcher of a test logs in with.
const testSSH = "LAUNCH_TEST_SSH"

func TestMain(m *testing.M) {
	if process.IsGuard() {
		syscall.Exit(process.RunGuard()) // exits at once: the race detector's exit takes a second
	}
	if os.Getenv(testProgram) != "" {
		os.Exit(play(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

// play is what a process of a test does. It returns the exit code.
func play(part string, args []string) int {
	rank, _ := strconv.Atoi(os.Getenv("RINGTRAIN_RANK"))
	switch part {
	case "place": // prints its variables and the id of its token
		for _, kv := range os.Environ() {
			fmt.Println(kv)
		}
		secret, err := token.Find(os.Getenv)
		fmt.Println("token", secret.ID(), err)
	case "executable": // prints where it is
		name, _ := os.Executable()
		fmt.Println(name)
	case "cores": // prints its cores and what libraries are told of them
		fmt.Println(process.CoresText(process.OwnCores()), "GOMAXPROCS="+os.Getenv("GOMAXPROCS"), "OMP_NUM_THREADS="+os.Getenv("OMP_NUM_THREADS"))
	case "chatter": // prints lines in pieces, the last one without its end
		return playChatter(rank, args[0])
	case "echo": // copies standard input
		fmt.Printf("rank %d read ", rank)
		io.Copy(os.Stdout, os.Stdin)
	case "digest": // says what standard input has
		h := sha256.New()
		io.Copy(h, os.Stdin)
		fmt.Printf("read %x\n", h.Sum(nil))
	case "exit": // ends with its rank's code; "-" waits for a signal first
		code, err := strconv.Atoi(strings.Split(args[0], ",")[rank])
		if err != nil {
			return playWait()
		}
		return code
	case "wait":
		return playWait()
	case "settler": // says where it is, and waits
		fmt.Println("at", os.Getenv("FAKE_HOST"), os.Getenv("RINGTRAIN_LOCAL_RANK"), "of", os.Getenv("LOCAL_WORLD_SIZE"), "GOMAXPROCS", os.Getenv("GOMAXPROCS"))
		return playWait()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("ready", os.Getpid())
		select {}
	case "parent": // starts a stubborn child in its group, and waits or leaves
		return playParent(args)
	case "orphan": // leaves a process of another session, which ends at once, and waits
		out, _ := exec.Command("sh", "-c", "setsid true >&2 & echo orphan $!").Output()
		fmt.Print(string(out))
		return playWait()
	case "agent": // as ssh starts it
		return playAgent()
	case "flaky": // fails at its first starts, as often as there are codes, and waits
		return playFlaky(args[0], args[1:])
	case "reaper", "launcher": // runs two ranks of args; a reaper inherits orphans
		if part == "reaper" {
			becomeReaper()
		}
		c := Config{NP: 2, Program: append([]string{os.Args[0]}, args...), Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Version: "test"}
		if ssh := os.Getenv(testSSH); ssh != "" {
			c.SSH, c.Hosts = []string{ssh}, []hosts.Host{{Name: "there", Slots: 1}, {Name: "beyond", Slots: 1}}
		}
		r, err := Run(context.Background(), c)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 70
		}
		return r.Code
	}
	return 0
}

// playWait ends as a rank of ringtrain does when a signal comes.
func playWait() int {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready", os.Getpid())
	s := (<-c).(syscall.Signal)
	fmt.Println("got", int(s))
	return 128 + int(s)
}

// playAgent is an agent. On a host that is frail it is gone right after its hello, on a
// rude one it tells then of a rank that nobody has started.
func playAgent() int {
	var in io.Reader = os.Stdin
	if kind, rude := strings.CutPrefix(os.Getenv("FAKE_HOST"), "rude"); rude {
		return playRude(kind[0])
	}
	if os.Getenv("FAKE_HOST") == "frail" {
		var orders bytes.Buffer
		if _, err := readFrame(io.TeeReader(in, &orders)); err != nil {
			return 70
		}
		in = &orders
	}
	return Agent(in, os.Stdout, os.Environ(), "test")
}

func playRude(kind byte) int {
	readFrame(os.Stdin)
	io.WriteString(os.Stdout, agentMagic)
	w := &frameWriter{w: os.Stdout}
	w.send(frameOf(kindHello, 0, hello{Protocol: agentProtocol, Version: "test"}))
	w.send(frame{kind, 0, []byte("{}")})
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func playChatter(rank int, lines string) int {
	n, _ := strconv.Atoi(lines)
	for i := range n {
		for _, w := range []*os.File{os.Stdout, os.Stderr} {
			io.WriteString(w, "line ")
			fmt.Fprintf(w, "%d of", i)
			fmt.Fprintf(w, " rank %d\n", rank)
		}
	}
	fmt.Print("the end")
	return 0
}

// playFlaky ends each of its first starts with the next of codes, and then well.
// The starts are counted in the folder dir. A code below 0 is a signal.
func playFlaky(dir string, codes []string) int {
	starts, _ := os.ReadDir(dir)
	f, err := os.CreateTemp(dir, "start")
	if err != nil {
		return 70
	}
	f.Close()
	fmt.Println("start", len(starts))
	if len(starts) >= len(codes) {
		return 0
	}
	code, _ := strconv.Atoi(codes[len(starts)])
	if code < 0 {
		syscall.Kill(os.Getpid(), syscall.Signal(-code))
	}
	return code
}

func playParent(args []string) int {
	cmd := exec.Command(os.Args[0], "stubborn")
	cmd.Stderr = os.Stderr // keeps the launcher's pipe open
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 70
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	fmt.Print(line) // the child's line "ready PID"
	if args[0] == "wait" {
		return playWait()
	}
	return 0
}

// eventually asks done again and again, for at most d, and reports whether it is true.
func eventually(done func() bool, d time.Duration) bool {
	for limit := time.Now().Add(d); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			return done()
		}
	}
	return true
}
