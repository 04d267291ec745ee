package launch

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// host starts ranks on one machine. Its methods are for one goroutine. Two events follow
// each start: the process of the rank has ended, and no process of the rank is left.
type host interface {
	// start starts a rank. A failed start may also come as an event.
	start(rank int, o startOrder) error

	// signal sends s to all processes of a rank.
	signal(rank int, s syscall.Signal)
}

// event is what has happened to a rank, or to hosts.
type event struct {
	process.Ending
	cleared bool
	leaving bool      // the host is about to be lost: a restart there waits for the loss
	fault   error     // the rank could not be started, and no process of it is left
	loss    *hostLoss // if not nil, the other fields are zero
}

// localHost starts ranks on this host. Its goroutine must be locked to a thread that lives
// as long as the ranks.
type localHost struct {
	env    []string
	dir    string // "": that of this process
	bind   process.Binding
	cores  []int
	grace  time.Duration
	input  *os.File       // of rank 0; nil: none
	more   func(rank int) // asks for more input of a rank whose input comes in frames
	feed   *rankInput     // of that rank; nil: none
	guard  *process.GuardProcess
	output func(rank int, toErr bool, chunk []byte) // an empty chunk is the end of the output
	post   func(event)
	ranks  map[int]*process.Child
}

func (h *localHost) start(rank int, o startOrder) error {
	share := h.share(o)
	env := h.env
	if share != nil {
		env = slices.Concat(env, process.ThreadVariables(share, len(h.cores), o.Of))
	}
	if h.dir != "" {
		if err := process.CheckDir(h.dir); err != nil { // otherwise the error would name the program
			return err
		}
	}
	p := process.Program{Argv: o.Program, Env: slices.Concat(env, o.Env), Dir: h.dir, Cores: share}
	if rank == 0 {
		p.Input = h.input
	}
	var err error
	if p.Path, err = o.find(h.dir); err != nil {
		return err
	}
	var feed *rankInput
	if o.Input && h.more != nil {
		if feed, p.Input, err = newRankInput(); err != nil {
			return err
		}
		defer p.Input.Close()
	}
	ch, err := process.Start(p, rank, h.guard, h.output)
	if err != nil {
		feed.end()
		return err
	}
	if feed != nil {
		h.feed = feed
		go feed.copy(func() { h.more(rank) })
	}
	h.ranks[rank] = ch
	go h.await(rank, ch, feed)
	return nil
}

// share returns the cores of a rank; nil means all.
func (h *localHost) share(o startOrder) []int {
	if h.bind != process.BindCore || len(h.cores) == 0 {
		return nil
	}
	return process.Share(h.cores, o.Local, o.Of)
}

// find returns the path of the program.
func (o startOrder) find(dir string) (string, error) {
	if o.Self {
		return process.Self()
	}
	return process.LookUp(o.Program[0], dir)
}

// await posts the end of the rank of ch.
func (h *localHost) await(rank int, ch *process.Child, feed *rankInput) {
	h.post(event{Ending: ch.Wait()})
	if ch.Clear(h.grace) {
		h.guard.Forget(ch.Group())
	}
	feed.end()
	h.post(event{Ending: process.Ending{Rank: rank}, cleared: true})
}

func (h *localHost) signal(rank int, s syscall.Signal) {
	if ch := h.ranks[rank]; ch != nil {
		ch.Signal(s)
	}
}

// remoteHost starts ranks on another host through its agent.
type remoteHost struct {
	login *login
}

func (h *remoteHost) start(rank int, o startOrder) error {
	f := frameOf(kindStart, rank, o)
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("host %s: command line and variables of %d bytes, want at most %d", h.login.target.name, len(f.payload), maxPayload))
	}
	h.login.enqueue(f)
	return nil
}

func (h *remoteHost) signal(rank int, s syscall.Signal) {
	h.login.enqueue(frame{kindSignal, rank, []byte(strconv.Itoa(int(s)))})
}

// loginReceiver handles the messages of one login in the launcher.
type loginReceiver struct {
	*launcher
	login   *login
	unacked *unacked
}

func newReceiver(l *launcher, g *login) loginReceiver { return loginReceiver{l, g, newUnacked()} }

func (l loginReceiver) handleFrame(f frame) error {
	if f.rank >= len(l.hostOfRank) || int(l.hostOfRank[f.rank].Load()) != l.login.target.host {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of rank %d, which does not run there", f.kind, f.rank))
	}
	name := l.login.target.name
	switch f.kind {
	case kindOut, kindErr:
		return l.receiveOutput(f)
	case kindMore:
		l.input.ask(l.login)
	case kindCleared:
		var s wireCleared
		if err := f.decode(&s); err != nil {
			return err
		}
		l.post(event{Ending: process.Ending{Rank: f.rank}, cleared: true, leaving: s.Leaving})
	case kindEnded:
		var s wireEnding
		if err := f.decode(&s); err != nil {
			return err
		}
		l.post(event{Ending: s.ending(f.rank, name)})
	case kindFault:
		var s wireFault
		if err := f.decode(&s); err != nil {
			return err
		}
		l.post(event{Ending: process.Ending{Rank: f.rank}, fault: fmt.Errorf("host %s: %w", name, s.error())})
	default:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q", f.kind))
	}
	return nil
}

// receiveOutput writes the output of a rank, and acknowledges it once it is written.
func (l loginReceiver) receiveOutput(f frame) error {
	v, n := outputID{f.rank, f.kind}, len(f.payload)
	if !l.unacked.receive(v, n) {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent output of rank %d beyond its credit, %d bytes", f.rank, windowBytes))
	}
	l.outputs.writeAsync(f.rank, f.kind == kindErr, f.payload, func() {
		if due := l.unacked.written(v, n); due > 0 {
			l.login.enqueue(ackFrame(v, due))
		}
	})
	return nil
}

// hostSilent tells people that the agent is silent, and which ranks with it.
func (l loginReceiver) hostSilent() {
	if ranks := l.ranksThere(); len(ranks) > 0 {
		l.config.tell(fmt.Sprintf("host %s: its agent has said nothing for %v; unheard: %s", l.login.target.name, silentNotice, phrase.Ranks(ranks)))
	}
}

// hostLost reports the loss of the host, and ends the output of its ranks.
func (l loginReceiver) hostLost(why string) {
	for _, rank := range l.ranksThere() {
		l.outputs.writeAsync(rank, false, nil, func() {})
		l.outputs.writeAsync(rank, true, nil, func() {})
	}
	l.post(event{loss: &hostLoss{l.login, why}})
}

// ranksThere returns the ranks of the login's host.
func (l loginReceiver) ranksThere() []int {
	var ranks []int
	for rank := range l.hostOfRank {
		if int(l.hostOfRank[rank].Load()) == l.login.target.host {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
