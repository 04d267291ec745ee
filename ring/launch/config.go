package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// Rendezvous is the part of the launcher's rendezvous that Run needs.
type Rendezvous interface {
	// Started reports that a process is started for a rank.
	Started(rank int)

	// Lost reports that a rank's process has ended, and the exit code for the others. It
	// returns whether the rank is to be started again.
	Lost(rank int, text string, code int) rendezvous.Verdict

	// LostForGood is Lost for a rank that is not started again: the job ends.
	LostForGood(rank int, text string, code int)

	// Cause returns the first cause of the job's end, or nil.
	Cause() *ring.Cause

	// Stopped returns the worker that a signal has told to end, so that all ranks stop; nil
	// if there is none. The rank is -1 if there is more than one.
	Stopped() *ring.Cause

	// RestartsLeft returns how many more ranks may be started again.
	RestartsLeft() int

	// GaveUp returns why the job was given up, if it was.
	GaveUp() rendezvous.GaveUp

	// GivenUp returns the ranks that count as lost while their processes seem to live: they
	// are stopped or silent.
	GivenUp() <-chan int

	// StopAll has all workers stop at one agreed step and end with code.
	StopAll(code int)

	// Done is closed when the job has ended.
	Done() <-chan struct{}
}

// App is a program and its number of ranks.
type App struct {
	NP      int      // ranks, 1 or more
	Program []string // argv; Program[0] is looked up in PATH on the rank's host
}

// Output says how the outputs of the ranks become those of the launcher.
type Output struct {
	Bare      bool   // rank 0's standard output unprefixed, the others' to Stderr
	Events    string // RINGTRAIN_JSON of the ranks; "": as in Env
	Read      Reader // of rank 0's standard output; nil: the outputs get it as it is
	Tag       bool   // lines begin with [rank,stdout] or [rank,stderr]
	Stamp     bool   // lines begin with the time
	All       bool   // no line is left out; else a reason for the end is that another rank has given
	Once      bool   // so is any line of standard error that another rank has written
	Told      bool   // the caller tells why ranks end: their own lines of it are left out, too
	OutputDir string // gets the outputs, too, without a prefix; "": none
	OneOutput bool   // Stdout and Stderr lead to the same place, such as a terminal: their order is kept
}

// Config is the configuration of Run.
type Config struct {
	NP         int          // ranks of Program, 1 or more
	Program    []string     // argv; Program[0] is looked up in PATH on the rank's host
	Self       bool         // Program[0] is this program: each host runs its own copy
	More       []App        // run by the ranks that follow
	Env        []string     // base environment on this host; Run adds each rank's place
	Export     []string     // NAME=VALUE, in the environment of ranks on all hosts
	Dir        string       // working directory on all hosts; "": that of this process, on hosts that have it
	Rendezvous string       // host:port, for RINGTRAIN_RENDEZVOUS; "" sets none
	Reach      []string     // host:port by which other hosts may reach it, in order
	Behind     bool         // agents may also try the address that their login comes from
	JobID      string       // for RINGTRAIN_JOB_ID
	Token      token.Source // ranks on this host get its file; without a file Run writes one, which goes with the job

	Hosts        []hosts.Host    // nil: this host, without bound
	MapBy        hosts.Mapping   // of ranks to hosts
	Bind         process.Binding // of ranks to cores
	SSH          []string        // words of the program that logs in; nil: ssh
	Push         bool            // copy this program to hosts that lack it
	Fanout       int             // logins to hosts at the same time; 0: to all
	Version      string          // of this program; all hosts must have the same
	StartTimeout time.Duration   // for all hosts to answer; 0: 300 s

	NoInput bool // the program reads no standard input
	Output
	Stdout io.Writer
	Stderr io.Writer    // nil discards, as with Stdout
	Notice func(string) // receives lines for people; may be nil
	Quiet  bool         // Notice receives no lines about a start as it was asked for

	Grace    time.Duration    // between TERM and KILL; 0 means 10 s
	Timeout  time.Duration    // of the whole run; 0: none
	Restarts int              // ranks that may be started again, in all; needs Server
	Server   Rendezvous       // is told of dead ranks; may be nil
	Signals  <-chan os.Signal // are passed on to the ranks; a second one that asks to end kills them
	Suspend  func()           // stops this process after SIGTSTP and after its ranks; nil: the process goes on
}

// defaultStartTimeout is also that of a rendezvous.
const defaultStartTimeout = 300 * time.Second

// Remote reports whether a rank may run on another host than this one.
func (c *Config) Remote() bool {
	return slices.ContainsFunc(c.Hosts, func(h hosts.Host) bool { return !h.Local })
}

// worldSize returns the number of all ranks.
func (c *Config) worldSize() int { return WorldSize(c.NP, c.More) }

// WorldSize returns the number of ranks of a first program and more.
func WorldSize(np int, more []App) int {
	for _, a := range more {
		np += a.NP
	}
	return np
}

// check fills in defaults and returns all faults at once.
func (c *Config) check() error {
	var errs []error
	for _, a := range append([]App{{c.NP, c.Program}}, c.More...) {
		if a.NP < 1 {
			errs = append(errs, fmt.Errorf("-np is %d, want 1 or more", a.NP))
		}
		if len(a.Program) == 0 || a.Program[0] == "" {
			errs = append(errs, errors.New("program is missing, want a job or a command"))
		}
	}
	if n := c.worldSize(); n > ring.MaxWorldSize {
		errs = append(errs, fmt.Errorf("-np is %d, want at most %d", n, ring.MaxWorldSize))
	}
	if c.Restarts < 0 {
		errs = append(errs, fmt.Errorf("restarts are %d, want 0 or more", c.Restarts))
	}
	if c.Fanout < 0 {
		errs = append(errs, fmt.Errorf("fanout is %d, want 0 or more", c.Fanout))
	}
	for name, d := range map[string]time.Duration{"grace": c.Grace, "timeout": c.Timeout, "start timeout": c.StartTimeout} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s is %v, want 0 or more", name, d))
		}
	}
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.StartTimeout = cmp.Or(c.StartTimeout, defaultStartTimeout)
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	if len(c.SSH) == 0 {
		c.SSH = []string{"ssh"}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// tell tells people a line, if there is one.
func (c *Config) tell(line string) {
	if line != "" && c.Notice != nil {
		c.Notice(line)
	}
}

// order returns the order that starts the rank of an assignment.
func (c *Config) order(s hosts.Assignment) startOrder {
	o := startOrder{Program: c.Program, Self: c.Self, Env: c.placeOf(s), Local: s.LocalRank, Of: s.LocalSize}
	before := c.NP
	for _, a := range c.More {
		if s.Rank >= before {
			o.Program, o.Self = a.Program, false
		}
		before += a.NP
	}
	return o
}

// placeOf returns the variables that tell a rank its place.
func (c *Config) placeOf(s hosts.Assignment) []string {
	var env []string
	set := func(value string, names ...string) {
		for _, name := range names {
			env = append(env, name+"="+value) // the last of equal names counts
		}
	}
	set(strconv.Itoa(s.Rank), "RINGTRAIN_RANK", "RANK")
	set(strconv.Itoa(c.worldSize()), "RINGTRAIN_WORLD_SIZE", "WORLD_SIZE")
	set(strconv.Itoa(s.LocalRank), "RINGTRAIN_LOCAL_RANK", "LOCAL_RANK")
	set(strconv.Itoa(s.LocalSize), "RINGTRAIN_LOCAL_SIZE", "LOCAL_WORLD_SIZE")
	if c.JobID != "" {
		set(c.JobID, "RINGTRAIN_JOB_ID")
	}
	if c.Events != "" {
		set(c.Events, "RINGTRAIN_JSON")
	}
	return env
}

// localEnv returns the environment of ranks on this host, without their place. tokenFile has
// the token; "": there is none.
func (c *Config) localEnv(rendezvous, tokenFile string) []string {
	env := token.Hide(slices.Concat(c.Env, c.Export), tokenFile)
	if rendezvous != "" {
		env = append(env, "RINGTRAIN_RENDEZVOUS="+rendezvous)
	}
	return env
}

// remoteEnv returns the additions to the environment of a login: the RINGTRAIN_* variables
// and the exported ones.
func (c *Config) remoteEnv() []string {
	var env []string
	for _, kv := range c.Env {
		if strings.HasPrefix(kv, "RINGTRAIN_") && !strings.HasPrefix(kv, process.GuardVariable+"=") {
			env = append(env, kv)
		}
	}
	return append(env, c.Export...)
}

// ParseExport reads NAME=VALUE, or NAME for its value in environ, or PREFIX* for all variables of environ whose names begin
// so. Another form, and a name that no variable has, is exitcode.Usage.
func ParseExport(word string, environ []string) ([]string, error) {
	name, _, hasValue := strings.Cut(word, "=")
	prefix, isPattern := strings.CutSuffix(name, "*")
	if prefix == "" || strings.ContainsAny(prefix, "* \t\n\x00") || isPattern && hasValue {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("-x is %q, want NAME, NAME=VALUE or PREFIX*", word))
	}
	if hasValue {
		return []string{word}, nil
	}
	var found []string
	for _, kv := range environ { // of a name that is there twice the later one counts
		if of, _, _ := strings.Cut(kv, "="); of == name || isPattern && strings.HasPrefix(of, prefix) {
			found = append(found, kv)
		}
	}
	switch {
	case len(found) == 0 && isPattern:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("-x %s: no variable of this name is set here", name))
	case len(found) == 0:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("-x %s: the variable is not set here; give -x %s=VALUE", name, name))
	}
	return found, nil
}
