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

// orders are what an agent must know before it starts ranks. They come on its standard
// input, so that no list of processes shows the secrets in them.
type orders struct {
	Protocol   int             `json:"protocol"`
	Version    string          `json:"version"`
	Rendezvous []string        `json:"rendezvous"` // host:port; the agent uses the first one that it reaches
	Direct     bool            `json:"direct"`     // this login comes from the launcher
	Behind     bool            `json:"behind"`     // the agent may also try the address that this login came from
	Env        []string        `json:"env"`        // in addition to the environment of the login
	Dir        string          `json:"dir"`        // working directory
	MustDir    bool            `json:"must_dir"`   // the user has asked for Dir: no other will do
	Bind       process.Binding `json:"bind"`
	Grace      time.Duration   `json:"grace"`

	Host          int           `json:"host"`     // the agent's own host
	Below         branch        `json:"below"`    // hosts below the agent; they get these orders, too
	Fanout        int           `json:"fanout"`   // logins to the hosts below; 0: one for each
	SSH           []string      `json:"ssh"`      // words of the program that logs in
	Self          string        `json:"self"`     // path of the launcher's program
	Push          bool          `json:"push"`     // copy the agent's program to hosts that lack it
	AnswerTimeout time.Duration `json:"patience"` // for the hosts below, and for each host that leads to others
}

// check refuses orders that would misdirect an agent.
func (o orders) check() error {
	known, ranks := map[int]bool{o.Host: true}, 0
	sane := o.Host >= 0 && o.Host < hosts.MaxSlots && o.Fanout >= 0 && (len(o.Below) == 0 || len(o.SSH) > 0 && o.AnswerTimeout > 0)
	for _, t := range o.Below {
		sane = sane && t.Host >= 0 && t.Host < hosts.MaxSlots && !known[t.Host] && t.Ranks > 0 && t.Ranks <= hosts.MaxSlots && hosts.CheckName(t.Name) == nil
		known[t.Host] = true
		ranks += t.Ranks
	}
	if !sane || ranks > hosts.MaxSlots {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("orders of host %d are invalid", o.Host))
	}
	return nil
}

// candidates returns the addresses of the rendezvous, in the order in which the agent tries
// them. login is the address that its login came from. It may be one of the launcher's, or
// that of the launcher if no host is between.
func (o orders) candidates(login string) []string {
	if !o.Direct {
		return o.Rendezvous
	}
	return candidates(o.Rendezvous, login, o.Behind)
}

// below returns the orders for the hosts below. list is what the agent tries; each of those
// hosts tries for itself.
func (o orders) below(list []string) orders {
	o.Rendezvous, o.Direct, o.Behind = list, false, false
	return o
}

// to returns the orders for the first host of b.
func (o orders) to(b branch) orders {
	o.Host, o.Below = b[0].Host, b[1:]
	return o
}

// hello is the answer of the agent.
type hello struct {
	Protocol   int        `json:"protocol"`
	Version    string     `json:"version"`
	Rendezvous string     `json:"rendezvous"` // the address that the agent has reached
	Cores      []int      `json:"cores"`
	Notice     string     `json:"notice"` // for people
	Fault      *wireFault `json:"fault"`  // after a fault the agent ends
}

// startOrder is the order to start a rank.
type startOrder struct {
	Program []string `json:"program"`
	Self    bool     `json:"self"` // run the agent's own program
	Env     []string `json:"env"`  // of this rank
	Local   int      `json:"local"`
	Of      int      `json:"of"`
	Input   bool     `json:"input"` // the launcher has standard input for this rank
}

// wireFault is an error in a message.
type wireFault struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

func faultOf(err error) *wireFault { return &wireFault{exitcode.Of(err), err.Error()} }

func (f *wireFault) error() error { return exitcode.With(f.Code, errors.New(f.Text)) }

// wireHosts is a message about hosts that are unreachable from another host, lost, or
// silent.
type wireHosts struct {
	Hosts []int     `json:"hosts"` // the first, and those that it leads to
	Why   wireFault `json:"why"`
}

// wireCleared is the message that no process of a rank is left.
type wireCleared struct {
	Leaving bool `json:"leaving"` // the agent is about to end and starts no rank any more
}

// wireEnding is an ending in a message.
type wireEnding struct {
	PID    int `json:"pid"`
	Exit   int `json:"exit"`
	Signal int `json:"signal"`
}

func endingMessage(e process.Ending) wireEnding { return wireEnding{e.PID, e.ExitCode, int(e.Signal)} }

func (s wireEnding) ending(rank int, host string) process.Ending {
	return process.Ending{Rank: rank, PID: s.PID, Host: host, ExitCode: s.Exit, Signal: syscall.Signal(s.Signal)}
}
