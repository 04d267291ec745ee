package launch

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
)

// orders are what an agent must know before it starts ranks. They come on its
// standard input: what is secret in them shows in no list of processes.
type orders struct {
	Protocol   int             `json:"protocol"`
	Version    string          `json:"version"`
	Rendezvous []string        `json:"rendezvous"` // host:port; the agent takes the first that it reaches
	Direct     bool            `json:"direct"`     // this login comes from the launcher
	Behind     bool            `json:"behind"`     // then the address that it came from may be tried, too
	Env        []string        `json:"env"`        // on top of the login's
	Dir        string          `json:"dir"`        // working directory
	MustDir    bool            `json:"must_dir"`   // it was asked for: none other will do
	Bind       process.Binding `json:"bind"`
	Grace      time.Duration   `json:"grace"`

	Host          int           `json:"host"`     // the agent's own
	Below         branch        `json:"below"`    // hosts that its frames lead to; they get these orders, too
	Fanout        int           `json:"fanout"`   // logins to them; 0: one each
	SSH           []string      `json:"ssh"`      // words of the program that logs in
	Self          string        `json:"self"`     // the launcher's program, where it is
	Push          bool          `json:"push"`     // copy the agent's program to hosts that lack it
	AnswerTimeout time.Duration `json:"patience"` // for those hosts to answer, and for any that leads to others
}

// check refuses orders by which an agent would get lost.
func (o orders) check() error {
	known, ranks := map[int]bool{o.Host: true}, 0
	sane := o.Host >= 0 && o.Host < hosts.MaxSlots && o.Fanout >= 0 && (len(o.Below) == 0 || len(o.SSH) > 0 && o.AnswerTimeout > 0)
	for _, t := range o.Below {
		sane = sane && t.Host >= 0 && t.Host < hosts.MaxSlots && !known[t.Host] && t.Ranks > 0 && t.Ranks <= hosts.MaxSlots && hosts.CheckName(t.Name) == nil
		known[t.Host] = true
		ranks += t.Ranks
	}
	if !sane || ranks > hosts.MaxSlots {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("orders of host %d make no sense", o.Host))
	}
	return nil
}

// candidates are the addresses of the rendezvous, in the order in which the agent
// tries them. login is where its login came from: that may be one of the
// launcher's, or be the launcher, if nobody is between.
func (o orders) candidates(login string) []string {
	if !o.Direct {
		return o.Rendezvous
	}
	return candidates(o.Rendezvous, login, o.Behind)
}

// below are the orders of those below: list is what the agent tried, and each of
// them tries for itself.
func (o orders) below(list []string) orders {
	o.Rendezvous, o.Direct, o.Behind = list, false, false
	return o
}

// to are the orders of the first host of b.
func (o orders) to(b branch) orders {
	o.Host, o.Below = b[0].Host, b[1:]
	return o
}

// hello is the agent's answer.
type hello struct {
	Protocol   int        `json:"protocol"`
	Version    string     `json:"version"`
	Rendezvous string     `json:"rendezvous"` // that it has reached
	Cores      []int      `json:"cores"`
	Notice     string     `json:"notice"` // for people
	Fault      *wireFault `json:"fault"`  // the agent ends
}

// startOrder is what starts a rank.
type startOrder struct {
	Program []string `json:"program"`
	Self    bool     `json:"self"` // the program is the agent's own
	Env     []string `json:"env"`  // of this rank
	Local   int      `json:"local"`
	Of      int      `json:"of"`
}

// saidFault is an error on its way.
type wireFault struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

func faultOf(err error) *wireFault { return &wireFault{exitcode.Of(err), err.Error()} }

func (f *wireFault) error() error { return exitcode.With(f.Code, errors.New(f.Text)) }

// saidHosts are hosts that cannot be reached from another one, not any more, or of
// which nothing is heard.
type wireHosts struct {
	Hosts []int     `json:"hosts"` // the first, and those that it would lead to
	Why   wireFault `json:"why"`
}

// saidCleared comes once nothing of a rank is left.
type wireCleared struct {
	Leaving bool `json:"leaving"` // the agent is about to end, and starts nothing any more
}

// saidEnding is an ending on its way.
type wireEnding struct {
	PID    int `json:"pid"`
	Exit   int `json:"exit"`
	Signal int `json:"signal"`
}

func endingMessage(e process.Ending) wireEnding { return wireEnding{e.PID, e.ExitCode, int(e.Signal)} }

func (s wireEnding) ending(rank int, host string) process.Ending {
	return process.Ending{Rank: rank, PID: s.PID, Host: host, ExitCode: s.Exit, Signal: syscall.Signal(s.Signal)}
}
