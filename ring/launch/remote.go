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

// remoteHost starts ranks on another host, by its agent.
type remoteHost struct {
	name  string
	index int
	login *login // that leads there, perhaps by other hosts
	hello hello
}

func (h *remoteHost) start(rank int, o startOrder) error {
	f := frameOf(kindStart, h.index, rank, o)
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("host %s: command line and variables of %d bytes, want at most %d", h.name, len(f.payload), maxPayload))
	}
	h.login.post(f)
	return nil
}

func (h *remoteHost) signal(rank int, s syscall.Signal) {
	h.login.post(frame{kindSignal, h.index, rank, []byte(strconv.Itoa(int(s)))})
}

// trunk is what the launcher hears by one login.
type trunk struct {
	*launcher
	login *login
	debts *debts
}

func (l *launcher) trunk(g *login) trunk { return trunk{l, g, newDebts()} }

func (t trunk) hear(f frame) error {
	if f.kind == kindHello {
		n := news{login: t.login, host: f.host}
		if err := f.decode(&n.hello); err != nil {
			return err
		}
		t.report(n)
		return nil
	}
	if f.rank >= len(t.homes) || int(t.homes[f.rank].Load()) != f.host {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of rank %d, which does not run there", f.kind, f.rank))
	}
	name := t.config.Hosts[f.host].Name
	switch f.kind {
	case kindOut, kindErr:
		return t.heard(f)
	case kindCleared:
		var s saidCleared
		if err := f.decode(&s); err != nil {
			return err
		}
		t.tell(event{Ending: process.Ending{Rank: f.rank}, cleared: true, leaving: s.Leaving})
	case kindEnded:
		var s saidEnding
		if err := f.decode(&s); err != nil {
			return err
		}
		t.tell(event{Ending: s.of(f.rank, name)})
	case kindFault:
		var s saidFault
		if err := f.decode(&s); err != nil {
			return err
		}
		t.tell(event{Ending: process.Ending{Rank: f.rank}, fault: fmt.Errorf("host %s: %w", name, s.error())})
	default:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q", f.kind))
	}
	return nil
}

// heard takes what a rank has written, and gives it new credit when that is passed on.
func (t trunk) heard(f frame) error {
	v, n := voiceID{f.host, f.rank, f.kind}, len(f.payload)
	if !t.debts.hold(v, n) {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent output of rank %d beyond its credit, %d bytes", f.rank, windowBytes))
	}
	t.voices.owe(f.rank, f.kind == kindErr, f.payload, func() {
		if due := t.debts.pass(v, n); due > 0 {
			t.login.post(takenFrame(v, due))
		}
	})
	return nil
}

func (t trunk) refused(by int, hosts []int, why error) {
	t.report(news{login: t.login, host: by, refused: hosts, why: why})
}

// silent tells people whose agent it is, and which ranks are unheard.
func (t trunk) silent(hosts []int) {
	var ranks []int
	for rank := range t.homes {
		if slices.Contains(hosts, int(t.homes[rank].Load())) {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > 0 {
		t.config.tell(fmt.Sprintf("host %s: its agent has said nothing for %v; unheard: %s", t.config.Hosts[hosts[0]].Name, silentNotice, phrase.Ranks(ranks)))
	}
}

// lost tells that hosts are gone. What their ranks have written ends there.
func (t trunk) lost(hosts []int, why string) {
	if len(hosts) == 0 {
		return
	}
	for rank := range t.homes {
		if slices.Contains(hosts, int(t.homes[rank].Load())) {
			t.voices.owe(rank, false, nil, func() {})
			t.voices.owe(rank, true, nil, func() {})
		}
	}
	t.tell(event{loss: &loss{t.login, hosts, why}})
}
