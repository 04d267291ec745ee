package launch

import (
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/internal/phrase"
	"ringtrain/ring/launch/process"
)

// remoteHost starts ranks on another host through its agent.
type remoteHost struct {
	name  string
	index int
	login *login // leads to the host, perhaps through other hosts
	hello hello
}

func (h *remoteHost) start(rank int, o startOrder) error {
	f := frameOf(kindStart, h.index, rank, o)
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("host %s: command line and variables of %d bytes, want at most %d", h.name, len(f.payload), maxPayload))
	}
	h.login.enqueue(f)
	return nil
}

func (h *remoteHost) signal(rank int, s syscall.Signal) {
	h.login.enqueue(frame{kindSignal, h.index, rank, []byte(strconv.Itoa(int(s)))})
}

// loginReceiver handles the messages of one login in the launcher.
type loginReceiver struct {
	*launcher
	login   *login
	unacked *unacked
}

// receiver returns the handler of a login's messages.
func (l *launcher) receiver(g *login) loginReceiver { return loginReceiver{l, g, newUnacked()} }

func (t loginReceiver) handleFrame(f frame) error {
	if f.kind == kindHello {
		n := hostReport{login: t.login, host: f.host}
		if err := f.decode(&n.hello); err != nil {
			return err
		}
		t.postReport(n)
		return nil
	}
	if f.rank >= len(t.hostOfRank) || int(t.hostOfRank[f.rank].Load()) != f.host {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of rank %d, which does not run there", f.kind, f.rank))
	}
	name := t.config.Hosts[f.host].Name
	switch f.kind {
	case kindOut, kindErr:
		return t.receiveOutput(f)
	case kindCleared:
		var s wireCleared
		if err := f.decode(&s); err != nil {
			return err
		}
		t.post(event{Ending: process.Ending{Rank: f.rank}, cleared: true, leaving: s.Leaving})
	case kindEnded:
		var s wireEnding
		if err := f.decode(&s); err != nil {
			return err
		}
		t.post(event{Ending: s.ending(f.rank, name)})
	case kindFault:
		var s wireFault
		if err := f.decode(&s); err != nil {
			return err
		}
		t.post(event{Ending: process.Ending{Rank: f.rank}, fault: fmt.Errorf("host %s: %w", name, s.error())})
	default:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q", f.kind))
	}
	return nil
}

// receiveOutput writes the output of a rank, and acknowledges it once it is written.
func (t loginReceiver) receiveOutput(f frame) error {
	v, n := outputID{f.host, f.rank, f.kind}, len(f.payload)
	if !t.unacked.receive(v, n) {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent output of rank %d beyond its credit, %d bytes", f.rank, windowBytes))
	}
	t.outputs.writeAsync(f.rank, f.kind == kindErr, f.payload, func() {
		if due := t.unacked.written(v, n); due > 0 {
			t.login.enqueue(ackFrame(v, due))
		}
	})
	return nil
}

func (t loginReceiver) hostsRefused(by int, hosts []int, why error) {
	t.postReport(hostReport{login: t.login, host: by, refused: hosts, why: why})
}

// hostsSilent tells people which agent and which ranks are silent.
func (t loginReceiver) hostsSilent(hosts []int) {
	var ranks []int
	for rank := range t.hostOfRank {
		if slices.Contains(hosts, int(t.hostOfRank[rank].Load())) {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > 0 {
		t.config.tell(fmt.Sprintf("host %s: its agent has said nothing for %v; unheard: %s", t.config.Hosts[hosts[0]].Name, silentNotice, phrase.Ranks(ranks)))
	}
}

// hostsLost reports the loss of hosts, and ends the output of their ranks.
func (t loginReceiver) hostsLost(hosts []int, why string) {
	if len(hosts) == 0 {
		return
	}
	for rank := range t.hostOfRank {
		if slices.Contains(hosts, int(t.hostOfRank[rank].Load())) {
			t.outputs.writeAsync(rank, false, nil, func() {})
			t.outputs.writeAsync(rank, true, nil, func() {})
		}
	}
	t.post(event{loss: &hostLoss{t.login, hosts, why}})
}
