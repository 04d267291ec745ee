package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"time"

	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
	"ringtrain/ring/token"
)

const (
	rateRound     = time.Millisecond
	socketBytes   = 64 << 10 // fit into a socket's buffer: nothing reads during a write
	socketTimes   = 32       // writes per round
	socketTimeout = 10 * time.Second
)

// Sizes of CoreRates: a segment that stays in a core's own caches, and a buffer that
// does not.
const (
	cachedBytes = 512 << 10
	coldBytes   = 32 << 20
)

// CoreRates measures the rates of one core for an all-reduce between hosts: coding,
// adding, copying, and passing bytes through sockets with TLS. It takes about a
// second. The caller fills in Bandwidth and Latency. CoreRates assumes a second core for
// the wire, as `bench allreduce` does.
func CoreRates(ctx context.Context, codecs []codec.Codec) (cost.Rates, error) {
	r := cost.Rates{SpareCore: true}
	b := newCodecBench(cachedBytes, rateRound)
	for _, c := range append([]codec.Codec{codec.None}, codecs...) {
		coding := cost.Coding{Name: c.String()}
		err := b.codec(c, func(row CodecRow) error {
			switch row.Operation {
			case "encode":
				coding.Encode, coding.Ratio = row.Rate*gigabyte, float64(row.Bytes)/float64(row.Encoded)
			case "decode-add":
				coding.Decode = row.Rate * gigabyte
			}
			return nil
		})
		if err != nil {
			return cost.Rates{}, err
		}
		if c.ID() == codec.None.ID() {
			r.Add = coding.Decode
		} else {
			r.Codings = append(r.Codings, coding)
		}
	}
	r.Memory = coldBytes / timeCopies(make([]byte, coldBytes), make([]byte, coldBytes))
	var err error
	r.Sockets, err = socketRate(ctx)
	return r, err
}

// socketRate returns the bytes/s that one core writes to a socket and reads from
// another, over TLS.
func socketRate(ctx context.Context) (float64, error) {
	out, in, err := loopback(ctx)
	if err != nil {
		return 0, fmt.Errorf("bench: sockets: %w", err)
	}
	defer out.Close()
	defer in.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	piece := make([]byte, socketBytes)
	var rounds [codecRounds]float64
	for i := range rounds {
		start := time.Now()
		for range socketTimes {
			if _, err := out.Write(piece); err != nil {
				return 0, fmt.Errorf("bench: sockets: %w", err)
			}
			if _, err := io.ReadFull(in, piece); err != nil {
				return 0, fmt.Errorf("bench: sockets: %w", err)
			}
		}
		rounds[i] = socketTimes * socketBytes / max(time.Since(start), 1).Seconds()
	}
	slices.Sort(rounds[:])
	return rounds[codecRounds/2], nil
}

// loopback returns the two ends of a connection within this process, over TLS.
func loopback(ctx context.Context) (out, in net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	d := net.Dialer{Timeout: socketTimeout}
	if out, err = d.DialContext(ctx, "tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if in, err = l.Accept(); err != nil {
		out.Close()
		return nil, nil, err
	}
	identity, err := token.NewIdentity()
	if err != nil {
		out.Close()
		in.Close()
		return nil, nil, err
	}
	accepted := make(chan error, 1)
	go func(socket net.Conn) {
		c, err := identity.AcceptTLS(socket, token.Token{})
		if err == nil {
			in, err = c, c.Answer(token.Answer{})
		}
		accepted <- err
	}(in)
	c, _, err := token.Token{}.DialTLS(ctx, out, token.Request{Purpose: token.Link})
	if err = cmp.Or(err, <-accepted); err != nil {
		out.Close()
		in.Close()
		return nil, nil, err
	}
	deadline := time.Now().Add(socketTimeout)
	c.SetDeadline(deadline)
	in.SetDeadline(deadline)
	return c, in, nil
}
