package place

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// pmiConn is a connection to mpiexec. It speaks version 1 of the process management
// interface (PMI-1): one line each way, "cmd=" and a name, then key=value pairs with a
// blank between.
//
//	cmd=init pmi_version=1 pmi_subversion=1     cmd=response_to_init … rc=0
//	cmd=get_my_kvsname                          cmd=my_kvsname kvsname=K
//	cmd=put kvsname=K key=… value=…             cmd=put_result rc=0 …
//	cmd=barrier_in                              cmd=barrier_out, once all ranks are in
//	cmd=get kvsname=K key=…                     cmd=get_result rc=0 … value=…
//	cmd=finalize                                cmd=finalize_ack
//
// mpiexec kills the whole job if a rank sends a command that mpiexec does not know, or ends
// between init and finalize.
type pmiConn struct {
	conn net.Conn
	in   *bufio.Reader
}

// Limits of a line of mpiexec. mpiexec states 256 bytes for a name and 1024 for a value.
const (
	maxPMILine = 4096
	maxPMIName = 256
)

var (
	errPMILine = fmt.Errorf("want a line of at most %d bytes, cmd=NAME and then key=value with a blank between", maxPMILine)
	errPMIGone = errors.New("mpiexec is gone")
)

// openPMI takes over the socket to mpiexec that this process has inherited.
func openPMI(fd int) (net.Conn, error) {
	if kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil || kind != syscall.SOCK_STREAM {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf(
			"PMI_FD is %d, and no socket to mpiexec is open there: let mpiexec start ringtrain itself, or unset PMI_*", fd))
	}
	f := os.NewFile(uintptr(fd), "PMI_FD")
	defer f.Close() // the connection has its own
	return net.FileConn(f)
}

// newPMI sends init on conn. When ctx ends, every call fails with its cause.
func newPMI(ctx context.Context, conn net.Conn) (*pmiConn, error) {
	w := &pmiConn{conn, bufio.NewReaderSize(conn, maxPMILine)}
	_, err := w.ask(ctx, "cmd=init pmi_version=1 pmi_subversion=1", "response_to_init")
	return w, err
}

// finish sends finalize. From then on mpiexec accepts the end of this rank.
func (p *pmiConn) finish(ctx context.Context) error {
	_, err := p.ask(ctx, "cmd=finalize", "finalize_ack")
	return err
}

// name returns the name of the job's key-value space, which is the job's id.
func (p *pmiConn) name(ctx context.Context) (string, error) {
	values, err := p.ask(ctx, "cmd=get_my_kvsname", "my_kvsname")
	if err != nil {
		return "", err
	}
	name := values["kvsname"]
	if name == "" || len(name) > maxPMIName {
		return "", pmiFault(fmt.Errorf("kvsname has %d bytes, want 1 to %d", len(name), maxPMIName))
	}
	return name, nil
}

// put stores a value in the key-value space.
func (p *pmiConn) put(ctx context.Context, space, key, value string) error {
	_, err := p.ask(ctx, fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", space, key, value), "put_result")
	return err
}

// get returns a value of the key-value space.
func (p *pmiConn) get(ctx context.Context, space, key string) (string, error) {
	values, err := p.ask(ctx, fmt.Sprintf("cmd=get kvsname=%s key=%s", space, key), "get_result")
	return values["value"], err
}

// barrier returns when all ranks have entered it.
func (p *pmiConn) barrier(ctx context.Context) error {
	_, err := p.ask(ctx, "cmd=barrier_in", "barrier_out")
	return err
}

// ask sends one line and returns the values of the answer, whose name must be want.
func (p *pmiConn) ask(ctx context.Context, line, want string) (map[string]string, error) {
	stop := context.AfterFunc(ctx, func() { p.conn.Close() })
	defer stop()
	answer, err := p.exchange(line)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, pmiFault(errPMILine)
	case err != nil:
		return nil, exitcode.With(exitcode.Retry, fmt.Errorf("%w: %w", errPMIGone, err))
	}
	name, values, err := parsePMI(answer)
	if err != nil {
		return nil, pmiFault(err)
	}
	if rc, ok := values["rc"]; name != want || ok && rc != "0" {
		return nil, pmiFault(fmt.Errorf("%s to %s, want cmd=%s with rc=0", phrase.Quote(answer), phrase.Quote(line), want))
	}
	return values, nil
}

func (p *pmiConn) exchange(line string) (string, error) {
	if _, err := p.conn.Write([]byte(line + "\n")); err != nil {
		return "", err
	}
	answer, err := p.in.ReadSlice('\n')
	return string(answer), err
}

// pmiFault returns err as a violation of the protocol by mpiexec.
func pmiFault(err error) error {
	return exitcode.With(exitcode.Protocol, fmt.Errorf("mpiexec answered by PMI: %w", err))
}

// parsePMI parses one line, which must end in a newline.
func parsePMI(line string) (name string, values map[string]string, err error) {
	text, whole := strings.CutSuffix(line, "\n")
	if !whole || len(line) > maxPMILine {
		return "", nil, errPMILine
	}
	values = map[string]string{}
	for field := range strings.SplitSeq(text, " ") {
		key, value, ok := strings.Cut(field, "=")
		_, twice := values[key]
		if !ok || key == "" || twice || (key == "cmd") != (len(values) == 0) || strings.ContainsFunc(field, notPrintable) {
			return "", nil, fmt.Errorf("%s: %w", phrase.Quote(line), errPMILine)
		}
		values[key] = value
	}
	name = values["cmd"]
	delete(values, "cmd")
	return name, values, nil
}

// notPrintable reports whether r is no printable ASCII character, or a blank.
func notPrintable(r rune) bool { return r <= ' ' || r > '~' }
