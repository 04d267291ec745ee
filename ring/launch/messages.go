package launch

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// orders are what an agent must know before it starts ranks. They come on its standard
// input, so that no list of processes and no environment shows the secret in them.
type orders struct {
	Protocol   int             `json:"protocol"`
	Version    string          `json:"version"`
	Rendezvous []string        `json:"rendezvous"` // host:port; the agent uses the first one that it reaches
	Behind     bool            `json:"behind"`     // the agent may also try the address that this login came from
	Token      string          `json:"token"`      // hexadecimal digits; "": none; ranks get a file of it
	Env        []string        `json:"env"`        // in addition to the environment of the login
	Dir        string          `json:"dir"`        // working directory
	MustDir    bool            `json:"must_dir"`   // the user has asked for Dir: no other will do
	Bind       process.Binding `json:"bind"`
	Grace      time.Duration   `json:"grace"`
	Ranks      int             `json:"ranks"` // that may run there
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

func faultOf(err error) *wireFault {
	return &wireFault{exitcode.Of(err), strings.ReplaceAll(err.Error(), "\n", " ")}
}

func (f *wireFault) error() error {
	return exitcode.With(f.Code, errors.New(phrase.Foreign(f.Text, phrase.MaxText)))
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

func (w wireEnding) ending(rank int, host string) process.Ending {
	return process.Ending{Rank: rank, PID: w.PID, Host: host, ExitCode: w.Exit, Signal: syscall.Signal(w.Signal)}
}
