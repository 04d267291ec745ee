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

// A rankRunner runs commands of `ringtrain bench` as a group of ranks, each on its own host.
type rankRunner struct {
	Program string       // ringtrain
	Hosts   []netns.Host // of the ranks, in order
	Stderr  io.Writer    // standard error of the ranks
}

// rankPort is the port of every rank. Each rank has its own network namespace.
const rankPort = "29400"

// enter is a shell command that executes the program in the network namespace of its
// rank. All ranks have the same command line and differ in their environment only.
const enter = `eval "exec \$BENCH_HOST_$RINGTRAIN_RANK \"\$@\" --listen=\$BENCH_ADDR_$RINGTRAIN_RANK"`

// run runs the command with its options and returns the output of rank 0.
func (r rankRunner) run(ctx context.Context, argv ...string) ([]byte, error) {
	env := os.Environ()
	for rank, h := range r.Hosts {
		env = append(env,
			fmt.Sprintf("BENCH_HOST_%d=%s", rank, strings.Join(h.Command(), " ")),
			fmt.Sprintf("BENCH_ADDR_%d=%s:%s", rank, h.Addr, rankPort))
	}
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Config{
		NP: len(r.Hosts), Program: append([]string{"sh", "-c", enter, "sh", r.Program, "bench"}, argv...), Env: env,
		Rendezvous: r.Hosts[0].Addr + ":" + rankPort, Token: token.New(), JSON: true, Stdout: &out, Stderr: r.Stderr,
	})
	if err != nil {
		return nil, err
	}
	if res.Code != 0 {
		return nil, exitcode.With(res.Code, errors.New(res.Text))
	}
	return out.Bytes(), nil
}

// limit returns the limit of the wire that bench link prints.
func (r rankRunner) limit(ctx context.Context, argv ...string) (l Limit, err error) {
	out, err := r.run(ctx, append([]string{"link", "--only=stream"}, argv...)...)
	if err == nil {
		err = only(out, "limit", &l)
	}
	if err == nil && !(l.Rate > 0) {
		err = errors.New("bench: bench link printed no rate of the wire")
	}
	return l, err
}

// only decodes the single event of a kind from JSON lines.
func only(out []byte, kind string, into any) error {
	for line := range bytes.Lines(out) {
		if isEvent(line, kind) {
			return json.Unmarshal(line, into)
		}
	}
	return fmt.Errorf("bench: the ranks printed no event %s", kind)
}

func isEvent(line []byte, kind string) bool {
	var head struct {
		Event string `json:"event"`
	}
	return json.Unmarshal(line, &head) == nil && head.Event == kind
}

// sums returns the rows of bench allreduce.
func (r rankRunner) sums(ctx context.Context, argv ...string) ([]Row, error) {
	out, err := r.run(ctx, append([]string{"allreduce", "--in-place"}, argv...)...)
	if err != nil {
		return nil, err
	}
	return rowsOf(out)
}

// rowsOf decodes the output of bench allreduce --json.
func rowsOf(out []byte) ([]Row, error) {
	var rows []Row
	for line := range bytes.Lines(out) {
		if !isEvent(line, Row{}.Kind()) {
			continue
		}
		var r Row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("bench: decode a row of the ranks: %w", err)
		}
		if r.Wrong > 0 || !(r.Time > 0) {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("bench: %d elements of %d bytes are wrong", r.Wrong, r.Bytes))
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, errors.New("bench: the ranks printed no rows")
	}
	return rows, nil
}
