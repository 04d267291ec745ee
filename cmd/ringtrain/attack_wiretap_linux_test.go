package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/export/bundle"
	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// A wiretap records every packet that a host sends or receives on eth0, by a raw socket.
type wiretap struct {
	testing.TB
	fd      int
	stop    chan struct{}
	done    chan struct{}
	packets [][]byte
}

// tap begins a record.
func tap(t testing.TB, h netns.Host) *wiretap {
	t.Helper()
	w := &wiretap{TB: t, stop: make(chan struct{}), done: make(chan struct{})}
	if err := inside(h, w.open); err != nil {
		t.Fatal(err)
	}
	go w.record()
	t.Cleanup(func() { w.end() })
	return w
}

// tapBytes is the memory for packets that the test has not read yet.
const tapBytes = 256 << 20

// open opens the socket in the namespace of this thread.
func (w *wiretap) open() error {
	eth0, err := net.InterfaceByName("eth0")
	if err != nil {
		return err
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in network order
	if w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all); err != nil {
		return os.NewSyscallError("socket", err)
	}
	return errors.Join(
		unix.SetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, tapBytes),
		unix.SetsockoptTimeval(w.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}),
		unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: eth0.Index}),
	)
}

func (w *wiretap) record() {
	defer close(w.done)
	b := make([]byte, 1<<17)
	for {
		n, _, err := unix.Recvfrom(w.fd, b, 0)
		switch {
		case err == nil:
			w.packets = append(w.packets, bytes.Clone(b[:n]))
			continue
		case err != unix.EAGAIN && err != unix.EINTR:
			w.Errorf("record: %v", err)
			return
		}
		select {
		case <-w.stop: // and nothing came for the time of the socket
			return
		default:
		}
	}
}

// end ends the record, fails the test if a packet is missing, and returns the packets.
func (w *wiretap) end() [][]byte {
	w.Helper()
	select {
	case <-w.done:
		return w.packets
	default:
	}
	close(w.stop)
	<-w.done
	seen, err := unix.GetsockoptTpacketStats(w.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil || seen.Drops > 0 || int(seen.Packets) != len(w.packets) {
		w.Errorf("recorded %d packets of %+v: %v", len(w.packets), seen, err)
	}
	unix.Close(w.fd)
	return w.packets
}

// A flow is one direction of a TCP connection.
type flow struct{ from, to netip.AddrPort }

// A piece is the payload of a segment.
type piece struct {
	at   uint32 // sequence number
	data []byte
}

// streams returns what each TCP connection of the packets carried, in the order of its bytes.
// Ethernet and IPv4 have no options here.
func streams(packets [][]byte) map[flow][]byte {
	pieces := map[flow][]piece{}
	for _, p := range packets {
		const ethernet, ip, tcp = 14, 20, 20
		if len(p) < ethernet+ip+tcp || p[12] != 8 || p[13] != 0 || p[ethernet] != 0x45 || p[ethernet+9] != unix.IPPROTO_TCP {
			continue
		}
		h := p[ethernet : ethernet+min(len(p)-ethernet, int(binary.BigEndian.Uint16(p[ethernet+2:])))]
		s := h[ip:]
		f := flow{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte(h[12:16])), binary.BigEndian.Uint16(s)),
			netip.AddrPortFrom(netip.AddrFrom4([4]byte(h[16:20])), binary.BigEndian.Uint16(s[2:])),
		}
		if data := s[min(len(s), int(s[12]>>4)*4):]; len(data) > 0 {
			pieces[f] = append(pieces[f], piece{binary.BigEndian.Uint32(s[4:]), data})
		}
	}
	all := map[flow][]byte{}
	for f, list := range pieces {
		all[f] = rejoined(list)
	}
	return all
}

// rejoined joins pieces in the order of their sequence numbers, each byte once.
func rejoined(list []piece) []byte {
	first := list[0].at
	slices.SortStableFunc(list, func(a, b piece) int { return cmp.Compare(int32(a.at-first), int32(b.at-first)) })
	stream, next := []byte(nil), list[0].at
	for _, p := range list {
		if again := int32(next - p.at); again < 0 {
			next = p.at // a gap: the search fails only across it
		} else {
			p.data = p.data[min(len(p.data), int(again)):]
		}
		stream = append(stream, p.data...)
		next += uint32(len(p.data))
	}
	return stream
}

// A secretKind is something that a listener must not find: samples of it.
type secretKind struct {
	what    string
	samples [][]byte
}

// found returns how many samples the packets contain, as they are or joined to streams.
func (s secretKind) found(packets [][]byte, streams map[flow][]byte) int {
	n := 0
	for _, sample := range s.samples {
		has := func(b []byte) bool { return bytes.Contains(b, sample) }
		hit := slices.ContainsFunc(packets, has)
		for _, stream := range streams {
			hit = hit || has(stream)
		}
		if hit {
			n++
		}
	}
	return n
}

// tappedJob is a job on two hosts whose packets are recorded. It trains one step, whose gradients
// are known, and is resumed, so that rank 0 sends the state.
type tappedJob struct {
	*box
	hosts []netns.Host
	key   token.Token
	jobID string
}

func (j *tappedJob) train(steps int, more ...string) {
	j.Helper()
	job := digits(steps, append([]string{
		"--job-id", j.jobID, "--set", "optimizer.learning_rate=1", "--set", "allreduce.codec=none", "--set", "allreduce.algorithm=ring",
		"--set", "export.savedmodel=",
	}, more...)...)
	c := &crowd{box: j.box}
	for rank, h := range j.hosts {
		line := h.Command(append([]string{self(j.box), "train"}, job...)...)
		place := j.with(fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=2", "MASTER_ADDR="+j.hosts[0].Addr, "MASTER_PORT=29400", "RINGTRAIN_TOKEN="+j.key.Reveal())
		c.ranks = append(c.ranks, place.startProgram(line[0], line[1:]...))
	}
	c.trained()
}

// secrets returns what the listener looks for after a first step from a model of zeros with
// learning rate 1: the variables are the negative gradients.
func (j *tappedJob) secrets() []secretKind {
	j.Helper()
	var state, gradients []byte
	for _, v := range j.variables() {
		state = append(state, v...)
		for i := 0; i < len(v); i += 4 {
			x := math.Float32frombits(binary.LittleEndian.Uint32(v[i:]))
			gradients = binary.LittleEndian.AppendUint32(gradients, math.Float32bits(-x))
		}
	}
	key, err := hex.DecodeString(j.key.Reveal())
	if err != nil {
		j.Fatal(err)
	}
	return []secretKind{
		{"state", sampled(state)},
		{"gradients", sampled(gradients)},
		{"options", [][]byte{[]byte("optimizer.learning_rate"), []byte("allreduce.algorithm"), []byte("input.batch")}},
		{"job id", [][]byte{[]byte(j.jobID)}},
		{"token", [][]byte{key, []byte(j.key.Reveal())}},
	}
}

// variables returns the bytes of the variables in the checkpoint of step 1.
func (j *tappedJob) variables() [][]byte {
	j.Helper()
	r, err := bundle.Open(j.path("ckpt", "mnist", "step-000001", "model.ckpt"))
	if err != nil {
		j.Fatal(err)
	}
	defer r.Close()
	tensors, err := r.ReadAll()
	if err != nil {
		j.Fatal(err)
	}
	var all [][]byte
	for _, v := range tensors {
		if v.DType == bundle.DTFloat32 && !strings.HasPrefix(v.Name, "_ringtrain") {
			all = append(all, v.Data)
		}
	}
	return all
}

// sampled returns 32 bytes from each of 127 places, without those that have hardly any content.
func sampled(b []byte) [][]byte {
	const length, places, different = 32, 127, 16
	var all [][]byte
	for i := range places {
		at := len(b) * i / places / 4 * 4
		sample := b[at:min(len(b), at+length)]
		if len(slices.Compact(slices.Sorted(slices.Values(sample)))) >= different {
			all = append(all, sample)
		}
	}
	return all
}

// TestAttackWiretap records every packet between two hosts. It verifies that state, gradients,
// options, job id and token are in none, and that with `auth` state, gradients and job id are
// found, so that the search is one.
func TestAttackWiretap(t *testing.T) {
	attacks(t)
	for _, tt := range []struct {
		security string
		clear    []string
	}{
		{"tls", nil},
		{"auth", []string{"state", "gradients", "job id"}},
	} {
		t.Run("security="+tt.security, func(t *testing.T) {
			j := &tappedJob{newBox(t), newHosts(t, 2, ""), token.New(), fmt.Sprintf("tapped-%d", time.Now().UnixNano())}
			w := tap(t, j.hosts[1])
			more := secured(tt.security)
			j.train(1, more...)
			j.train(20, append(more, "--resume", "must")...)
			packets := w.end()
			flows := streams(packets)
			for _, s := range j.secrets() {
				n := s.found(packets, flows)
				t.Logf("%s: %d of %d samples in %d packets of %d flows", s.what, n, len(s.samples), len(packets), len(flows))
				if inClear := slices.Contains(tt.clear, s.what); inClear != (n > 0) || len(s.samples) == 0 {
					t.Errorf("%s: %d of %d samples are in the packets, want some: %v", s.what, n, len(s.samples), inClear)
				}
			}
		})
	}
}
