package state

import (
	gocmp "cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
)

var update = flag.Bool("update", false, "write what happens into the scenario files; read the difference before you keep it")

// TestScenarios verifies the effects of each event in the scenarios of testdata/*.txt. A scenario
// is a list of events; the lines after an event that begin with ">" are its effects. The words of a
// line:
//
//	config size=4 start=15s lease=5s job=x listed=a:1,,c:3 restarts=1 teller=owner|rank0 launcher=no
//	at 2s                            the clock, without a tick
//	tick                             one tick
//	run 15s a b | all | all but b    ticks every 200 ms until then; the named streams send heartbeats
//	join a rank=0 size=4 host=h …    stream a; also pid addr job version protocol incarnation agree=k:v,k:v offers=k:v+w,k:v
//	report a rank=0 host=h code=65 : text
//	abort a|- rank=3 step=8 code=138 op=join : text
//	beat a step=3 phase=train whole=yes    op=barrier seq=8 n=100 moved=2 wait=1 for=1s: the operation, repeated by run
//	broken a closed=yes : why · left a · heard a · started 3 · exited 3 code=138 : text
//	probed 3 : why                   of a missing rank
//	unproved 10.0.0.9 times=3 token=77e1d0aa    a process with another token, from that address
//	strangers a|- : text            at the port of worker a, or at that of the rendezvous
//	port a : why owner=self|other follows=2    the answer of the port of worker a
//	ready a generation=1 step=41 · leaving a code=143 · stop code=143
//	resume a as=b doing=out|done step=4 stop=143    worker a comes again with its record, which is that of worker b without as
//	empty [drawn=ID]                 another rendezvous starts empty, at time 0; ID is its own job id
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := &scenario{streams: map[string]uint64{}, names: map[uint64]string{}, beats: map[string]Heartbeat{}, requests: map[string]Request{}, records: map[string]Record{}}
			for l := range strings.Lines(string(script)) {
				if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, ">") {
					continue
				}
				fmt.Fprintln(&p.out, l)
				if err := p.line(l); err != nil {
					t.Fatalf("%s: line %q: %v", file, l, err)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(p.out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(script), p.out.String()); diff != "" {
				t.Errorf("%s: want -, got +:\n%s", file, diff)
			}
		})
	}
}

// scenario runs one scenario.
type scenario struct {
	s       *State
	config  Config
	now     time.Duration
	streams map[string]uint64    // streams of joined workers, until they break
	names   map[uint64]string    // of all streams
	life    int                  // number of the newest life
	last    uint64               // number of the newest stream
	beats   map[string]Heartbeat // heartbeats that run repeats
	out     strings.Builder

	requests map[string]Request // of the workers
	records  map[string]Record  // what the workers know
}

func (s *scenario) line(l string) error {
	words, text, _ := strings.Cut(l, " : ")
	f := strings.Fields(words)
	if len(f) == 0 || strings.HasPrefix(l, "#") {
		return nil
	}
	kv := pairs(f[1:])
	switch f[0] {
	case "config":
		s.config = Config{
			JobID: kv["job"], DefaultJobID: "job-drawn", WorldSize: number(kv, "size", 0), Restarts: number(kv, "restarts", 0),
			NoticeSink:   map[string]NoticeSink{"owner": NoticeOwner, "rank0": NoticeRank0}[kv["teller"]],
			StartTimeout: seconds(kv["start"], 300), Lease: seconds(kv["lease"], 5), Addrs: list(kv["listed"]), Unique: kv["launcher"] == "",
			Instance: 1, NewLife: func() [16]byte { return [16]byte{byte(s.lives())} },
		}
		s.s = New(s.config)
	case "empty":
		s.config.Instance++
		s.config.DefaultJobID = gocmp.Or(kv["drawn"], s.config.DefaultJobID)
		s.s, s.now, s.streams = New(s.config), 0, map[string]uint64{}
	case "at":
		s.now = seconds(f[1], 0)
	case "run":
		s.run(seconds(f[1], 0), f[2:])
	default:
		e, err := s.event(f, kv, text)
		if err != nil {
			return err
		}
		s.step(e, "")
	}
	return nil
}

// lives numbers the lives of all rendezvous.
func (s *scenario) lives() int {
	s.life++
	return s.life
}

// open gives worker name a new stream.
func (s *scenario) open(name string) uint64 {
	s.last++
	s.streams[name], s.names[s.last] = s.last, name
	return s.last
}

func (s *scenario) run(until time.Duration, who []string) {
	if len(who) > 0 && who[0] == "all" {
		who = slices.DeleteFunc(slices.Sorted(maps.Keys(s.streams)), func(name string) bool { return slices.Contains(who[1:], name) })
	}
	for s.now < until {
		s.now = min(s.now+200*time.Millisecond, until)
		for _, name := range who {
			e, ok := s.beats[name]
			if !ok {
				e = Heartbeat{Stream: s.streams[name], Step: -1}
			}
			s.step(e, fmt.Sprintf("at %v ", s.now))
		}
		s.step(Tick{}, fmt.Sprintf("at %v ", s.now))
	}
}

// event returns the event that the words of a line describe.
func (s *scenario) event(f []string, kv map[string]string, text string) (Event, error) {
	arg := append(f, "")[1]
	rank, _ := strconv.Atoi(arg)
	c := &ring.Cause{Rank: number(kv, "rank", -1), Host: kv["host"], Step: int64(number(kv, "step", -1)), Operation: kv["op"], Text: text, ExitCode: number(kv, "code", 1)}
	switch f[0] {
	case "tick":
		return Tick{}, nil
	case "join":
		s.requests[arg] = s.request(kv)
		return Joined{s.open(arg), s.requests[arg]}, nil
	case "report":
		return Reported{s.open(arg), s.request(kv), c}, nil
	case "resume":
		doing := map[string]Doing{"out": OutOfGroup, "done": WorkDone}[kv["doing"]]
		r := s.records[gocmp.Or(kv["as"], arg)]
		r.Step, r.Stop = int64(number(kv, "step", -1)), number(kv, "stop", 0)
		q := s.requests[arg]
		q.JobID = r.JobID
		return Resumed{s.open(arg), q, r, doing}, nil
	case "ready":
		return ReadyForNext{s.streams[arg], uint64(number(kv, "generation", 0)), int64(number(kv, "step", -1))}, nil
	case "leaving":
		return LeaveRequested{s.streams[arg], c.ExitCode}, nil
	case "stop":
		return StopAll{c.ExitCode}, nil
	case "abort":
		return Aborted{s.streams[arg], c}, nil
	case "beat":
		e := Heartbeat{Stream: s.streams[arg], Step: int64(number(kv, "step", -1)), Phase: kv["phase"], Whole: kv["whole"] != "", Unchanged: seconds(kv["for"], 0)}
		e.Wait = ring.Wait{
			Operation: kv["op"], Seq: uint64(number(kv, "seq", 0)), Elements: number(kv, "n", 0), Peer: number(kv, "wait", -1), Moved: uint64(number(kv, "moved", 0)),
		}
		if r, ok := s.records[arg]; ok && e.Whole {
			r.Complete()
			s.records[arg] = r
		}
		if _, ok := kv["seq"]; ok {
			s.beats[arg] = e
		}
		return e, nil
	case "broken":
		id := s.streams[arg]
		delete(s.streams, arg)
		return StreamBroken{Stream: id, Reason: text, Closed: kv["closed"] != ""}, nil
	case "heard":
		return EndConfirmed{s.streams[arg]}, nil
	case "left":
		return Left{s.streams[arg]}, nil
	case "unproved":
		return WrongTokens{[]WrongToken{{From: arg, ID: kv["token"], Times: uint64(number(kv, "times", 1)), Last: s.now}}}, nil
	case "strangers":
		return StrangersCame{s.streams[arg], text}, nil
	case "probed":
		return Probed{Rank: rank, Reason: text, Refused: text == "connection refused"}, nil
	case "port":
		e := Probed{Rank: s.requests[arg].Rank, Incarnation: s.requests[arg].Worker.Incarnation, Reason: text, Refused: text == "connection refused", Follows: uint64(number(kv, "follows", 0))}
		e.Owner = map[string]uint64{"self": e.Incarnation, "other": e.Incarnation + 100}[kv["owner"]]
		return e, nil
	case "started":
		return ProcessStarted{rank}, nil
	case "exited":
		return ProcessExited{rank, text, c.ExitCode, kv["final"] != ""}, nil
	}
	return nil, fmt.Errorf("no event %q", f[0])
}

func (s *scenario) request(kv map[string]string) Request {
	r := Request{
		JobID: kv["job"], Rank: number(kv, "rank", -1), WorldSize: number(kv, "size", 0),
		Protocol: number(kv, "protocol", 1), Version: "v1",
		Worker: ring.Worker{
			Host: kv["host"], HostID: kv["host"], Addr: kv["addr"], PID: number(kv, "pid", 1),
			Incarnation: uint64(number(kv, "incarnation", 1001+int(s.last))),
		},
	}
	if v, ok := kv["version"]; ok {
		r.Version = v
	}
	for _, o := range list(kv["offers"]) {
		name, values, _ := strings.Cut(o, ":")
		r.Offers = append(r.Offers, Offer{name, strings.Split(values, "+")})
	}
	for _, a := range list(kv["agree"]) {
		r.Agree = append(r.Agree, strings.Replace(a, ":", "=", 1))
	}
	return r
}

// step writes the effects of e into the transcript.
func (s *scenario) step(e Event, when string) {
	for _, f := range s.s.Step(s.now, e) {
		s.learn(f)
		fmt.Fprintf(&s.out, "> %s%s\n", when, s.tell(f))
	}
}

// learn notes what the workers know by effect f.
func (s *scenario) learn(f Effect) {
	switch f := f.(type) {
	case SendMembership:
		s.records[s.name(f.Stream)] = f.Record
	case SendEndGeneration:
		r := s.records[s.name(f.Stream)]
		r.Ended, r.Lost, r.Cause = true, f.Incarnations, f.First
		s.records[s.name(f.Stream)] = r
	}
}

func (s *scenario) tell(f Effect) string {
	switch f := f.(type) {
	case SendWaiting:
		return fmt.Sprintf("waiting %s: %v", s.name(f.Stream), f.Waiting)
	case SendMembership:
		m := f.Membership
		var hosts []string
		for _, w := range m.Workers {
			hosts = append(hosts, fmt.Sprintf("%d@%s", w.Rank, w.Host))
		}
		l := fmt.Sprintf("membership %s: %s generation %d rank %d of %v", s.name(f.Stream), m.JobID, m.Generation, m.Rank, hosts)
		for _, c := range m.Choices {
			l += fmt.Sprintf(", %s %s", c.Name, c.Value)
			if c.Lacks >= 0 {
				l += fmt.Sprintf(" for rank %d", c.Lacks)
			}
			if c.Was != "" {
				l += " after " + c.Was
			}
		}
		if f.Cause != nil {
			l += fmt.Sprintf(", lost %v: %v", f.Lost, f.Cause)
		}
		return l
	case SendEndGeneration:
		return fmt.Sprintf("end of generation %d to %s, lost %v: %v", f.Fence.Generation, s.name(f.Stream), f.Lost, f.Cause)
	case SendResumed:
		return "resumed " + s.name(f.Stream)
	case SendStop:
		l := fmt.Sprintf("stop %s %d", s.name(f.Stream), f.Code)
		if f.By >= 0 {
			l += fmt.Sprintf(" by rank %d", f.By)
		}
		return l
	case SendNotice:
		return fmt.Sprintf("notice %s: %s", s.name(f.Stream), f.Text)
	case RankAbandoned:
		return fmt.Sprintf("give up rank %d", f.Rank)
	case Notify:
		return "warn: " + f.Text
	case SetLease:
		return fmt.Sprintf("lease %v", f.Lease)
	case CloseStream:
		return "close " + s.name(f.Stream)
	case SendRefused:
		return fmt.Sprintf("refused %s %d: %v", s.name(f.Stream), f.Cause.ExitCode, f.Cause)
	case SendAbort:
		return fmt.Sprintf("abort %s %d: %v", s.name(f.Stream), f.Cause.ExitCode, f.Cause)
	case SendEnd:
		return "end " + s.name(f.Stream)
	case Probe:
		if f.Incarnation != 0 {
			return fmt.Sprintf("probe %d at %s for process %d", f.Rank, f.Addr, f.Incarnation)
		}
		return fmt.Sprintf("probe %d at %s", f.Rank, f.Addr)
	case Finish:
		if f.Cause == nil {
			return "finish clean"
		}
		return fmt.Sprintf("finish %d: %v", f.Cause.ExitCode, f.Cause)
	}
	return fmt.Sprintf("%#v", f)
}

func (s *scenario) name(stream uint64) string { return s.names[stream] }

func pairs(words []string) map[string]string {
	m := map[string]string{}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		m[k] = v
	}
	return m
}

func number(kv map[string]string, key string, missing int) int {
	if n, err := strconv.Atoi(kv[key]); err == nil {
		return n
	}
	return missing
}

func seconds(s string, missing int) time.Duration {
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	return time.Duration(missing) * time.Second
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
