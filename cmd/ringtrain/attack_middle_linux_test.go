package main

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// A middle is a man in the middle of two hosts. It has the address of each host towards the other
// one, and passes on connections to one port of each:
//
//	host 0                face of host 1 │ face of host 0                host 1
//	10.231.0.1 ────────────── 10.231.0.2 │ 10.231.0.1 ────────────── 10.231.0.2
type middle struct {
	*testing.T
	hosts, faces [2]netns.Host
	pass         func(*passage) // handles a connection, until its end
}

// The ports of the two ranks. That of rank 0 has the rendezvous, too.
var middlePorts = [2]string{"29400", "29500"}

// A passage is a connection through the middle.
type passage struct {
	to             int // the rank whose port was dialled
	dialer, target net.Conn
}

// newMiddle makes two hosts and the middle between them.
func newMiddle(t *testing.T, pass func(*passage)) *middle {
	t.Helper()
	left, right := newHosts(t, 2, ""), newHosts(t, 2, "")
	m := &middle{T: t, hosts: [2]netns.Host{left[0], right[1]}, faces: [2]netns.Host{right[0], left[1]}, pass: pass}
	for rank := range m.hosts {
		l := listenOn(t, m.faces[rank], m.address(rank))
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go m.serve(rank, c)
			}
		}()
	}
	return m
}

// address is where rank listens.
func (m *middle) address(rank int) string { return m.hosts[rank].Addr + ":" + middlePorts[rank] }

// serve dials the target for a connection to its face. If the target refuses, the dialer's
// connection is reset.
func (m *middle) serve(rank int, dialer net.Conn) {
	defer dialer.Close()
	target, err := dialFrom(context.Background(), m.faces[1-rank], m.faces[1-rank].Addr, m.address(rank))
	if err != nil {
		dialer.(*net.TCPConn).SetLinger(0)
		return
	}
	defer target.Close()
	m.pass(&passage{rank, dialer, target})
}

// asIs passes on all bytes.
func (p *passage) asIs() { p.both(p.copyAsIs, p.copyAsIs) }

func (p *passage) copyAsIs(dst, src net.Conn) { io.Copy(dst, src) }

// both copies both directions, and ends with the end of both.
func (p *passage) both(there, back func(dst, src net.Conn)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		there(p.target, p.dialer)
		closeWrite(p.target)
	}()
	back(p.dialer, p.target)
	closeWrite(p.dialer)
	<-done
}

// closeWrite ends the outgoing direction of a connection.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// start starts one rank on each host.
func (m *middle) start(b *box, key token.Token, job ...string) *crowd {
	c := &crowd{box: b}
	for rank, h := range m.hosts {
		line := h.Command(append([]string{self(b), "train", "--listen", m.address(rank)}, job...)...)
		c.ranks = append(c.ranks, b.with(m.place(rank, key)...).startProgram(line[0], line[1:]...))
	}
	return c
}

// place returns the variables of a rank.
func (m *middle) place(rank int, key token.Token) []string {
	host, port, _ := strings.Cut(m.address(0), ":")
	return []string{
		"RANK=" + strconv.Itoa(rank), "WORLD_SIZE=2", "MASTER_ADDR=" + host, "MASTER_PORT=" + port, "RINGTRAIN_TOKEN=" + key.Reveal(),
	}
}
