package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// A crew runs commands of `ringtrain bench` as some ranks, each of them on a host
// of its own.
type crew struct {
	Program string       // ringtrain
	Hosts   []netns.Host // of the ranks, in order
	Stderr  io.Writer    // for what ranks say
}

// crewPort is where ranks listen: their networks are their own.
const crewPort = "29400"

// enter becomes the program on the host of its rank. All ranks are started with
// one command line, and differ in their environment only.
const enter = `eval "exec \$BENCH_HOST_$RINGTRAIN_RANK \"\$@\" --listen=\$BENCH_ADDR_$RINGTRAIN_RANK"`

// run runs the command with its options, and returns what rank 0 printed.
func (c crew) run(ctx context.Context, argv ...string) ([]byte, error) {
	env := os.Environ()
	for rank, h := range c.Hosts {
		env = append(env,
			fmt.Sprintf("BENCH_HOST_%d=%s", rank, strings.Join(h.Command(), " ")),
			fmt.Sprintf("BENCH_ADDR_%d=%s:%s", rank, h.Addr, crewPort))
	}
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Config{
		NP: len(c.Hosts), Program: append([]string{"sh", "-c", enter, "sh", c.Program, "bench"}, argv...), Env: env,
		Rendezvous: c.Hosts[0].Addr + ":" + crewPort, Token: token.New(), JSON: true, Stdout: &out, Stderr: c.Stderr,
	})
	if err != nil {
		return nil, err
	}
	if res.Code != 0 {
		return nil, exitcode.With(res.Code, errors.New(res.Text))
	}
	return out.Bytes(), nil
}

// limit returns what bench link prints of the wire.
func (c crew) limit(ctx context.Context, argv ...string) (l Limit, err error) {
	out, err := c.run(ctx, append([]string{"link", "--only=stream"}, argv...)...)
	if err == nil {
		err = only(out, "limit", &l)
	}
	if err == nil && !(l.Rate > 0) {
		err = errors.New("bench: no rate of the wire")
	}
	return l, err
}

// only reads the one event of a kind among lines of JSON.
func only(out []byte, kind string, into any) error {
	for line := range bytes.Lines(out) {
		if isEvent(line, kind) {
			return json.Unmarshal(line, into)
		}
	}
	return fmt.Errorf("bench: the ranks told no %s", kind)
}

func isEvent(line []byte, kind string) bool {
	var head struct {
		Event string `json:"event"`
	}
	return json.Unmarshal(line, &head) == nil && head.Event == kind
}

// sums returns the rows that bench allreduce prints.
func (c crew) sums(ctx context.Context, argv ...string) ([]Row, error) {
	out, err := c.run(ctx, append([]string{"allreduce", "--in-place"}, argv...)...)
	if err != nil {
		return nil, err
	}
	return rowsOf(out)
}

// rowsOf reads what bench allreduce --json prints.
func rowsOf(out []byte) ([]Row, error) {
	var rows []Row
	for line := range bytes.Lines(out) {
		if !isEvent(line, Row{}.Kind()) {
			continue
		}
		var r Row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("bench: a row of the ranks: %w", err)
		}
		if r.Wrong > 0 || !(r.Time > 0) {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("bench: %d elements of %d bytes are wrong", r.Wrong, r.Bytes))
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, errors.New("bench: the ranks told no times")
	}
	return rows, nil
}
