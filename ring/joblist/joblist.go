package joblist

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// An Entry is what other processes of this user on this host need to ask a rendezvous for
// its status.
type Entry struct {
	Command   string      `json:"command"` // that runs the job, for people
	Address   string      `json:"address"` // of the rendezvous
	Token     token.Token `json:"-"`
	Dashboard string      `json:"dashboard"` // address of the live page, with its token; "": none
	History   string      `json:"history"`   // file of the events of the run, behind HOST: on another host; "": none, or unknown
	PID       int         `json:"pid"`
	Since     time.Time   `json:"since"`
}

// entryFile is an Entry in its file.
type entryFile struct {
	Entry
	Revealed string `json:"token"`   // hexadecimal digits; "": none
	HostID   string `json:"host_id"` // containers may share the folder but no network
}

const entrySuffix = ".job"

// Add lists a rendezvous of this process until the process ends, or until remove is called.
// It fills in PID and Since. Its errors are those of [token.Hold].
func Add(e Entry) (remove func(), err error) {
	e.Address, e.PID, e.Since = reachable(e.Address), os.Getpid(), time.Now().UTC()
	text, err := json.Marshal(entryFile{e, e.Token.Reveal(), rendezvous.Self("").HostID})
	if err != nil {
		panic("joblist: listing cannot be written as JSON")
	}
	f, err := token.Hold(entrySuffix, text)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// reachable returns an address by which this host reaches the listener on addr.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// Read returns the entries of this user's processes on this host. It also returns the faults
// of the folder and of files, which it skips.
func Read() ([]Entry, []error) {
	list, errs := token.ReadHeld(entrySuffix)
	var all []Entry
	for _, f := range list {
		l, hostID, err := parseEntry(f.Text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", f.Path, err))
		case hostID == rendezvous.Self("").HostID:
			all = append(all, l)
		}
	}
	return all, errs
}

// parseEntry parses the text of a file.
func parseEntry(text []byte) (l Entry, hostID string, err error) {
	var raw entryFile
	if json.Unmarshal(text, &raw) != nil {
		return l, "", errors.New("is no listing of a job")
	}
	if _, _, err := net.SplitHostPort(raw.Address); err != nil {
		return l, "", errors.New("is no listing of a job: the address is not HOST:PORT")
	}
	l = raw.Entry
	if l.Token, err = token.ParseRevealed(raw.Revealed); err != nil {
		return l, "", errors.New("is no listing of a job: the token is none")
	}
	return l, raw.HostID, nil
}
