package grpclink

import (
	"sync"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// maxChunk is the maximal part of a payload in one message.
const maxChunk = 256 << 10

// outMessage is a message to send: head, then body.
type outMessage struct{ head, body []byte }

// inMessage is a received message. Its bytes are in gRPC's buffers until take.
type inMessage struct{ data mem.BufferSlice }

// take copies the bytes into head and then body, as far as they have room. It releases the
// message and returns its length.
func (m *inMessage) take(head, body []byte) int {
	for _, b := range m.data {
		p := b.ReadOnlyData()
		n := copy(head, p)
		head, p = head[n:], p[n:]
		body = body[copy(body, p):]
	}
	n := m.data.Len()
	m.data.Free()
	m.data = nil
	return n
}

// codec passes the messages of links unchanged and leaves all other messages to
// protobuf: a server has one codec for all its services.
type codec struct {
	protobuf     encoding.CodecV2
	small, large pool
}

func newCodec() *codec {
	return &codec{
		protobuf: encoding.GetCodecV2(proto.Name),
		small:    pool{size: 4 << 10},
		large:    pool{size: maxMessageBytes},
	}
}

// Name returns the content subtype of a link's calls.
func (c *codec) Name() string { return "ringtrain-frames" }

// Marshal copies a message, since gRPC sends it after SendMsg has returned.
func (c *codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*outMessage)
	if !ok {
		return c.protobuf.Marshal(v)
	}
	p := &c.small
	if len(m.head)+len(m.body) > p.size {
		p = &c.large
	}
	buf := p.Get(len(m.head) + len(m.body))
	copy((*buf)[copy(*buf, m.head):], m.body)
	return mem.BufferSlice{mem.NewBuffer(buf, p)}, nil
}

func (c *codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*inMessage)
	if !ok {
		return c.protobuf.Unmarshal(data, v)
	}
	data.Ref() // gRPC frees its own reference when Unmarshal returns
	m.data = data
	return nil
}

// pool is a mem.BufferPool of buffers of one size. It does not clear them for each use, as
// package mem does.
type pool struct {
	size int
	bufs sync.Pool
}

func (p *pool) Get(n int) *[]byte {
	if b, ok := p.bufs.Get().(*[]byte); ok {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n, p.size)
	return &b
}

func (p *pool) Put(b *[]byte) { p.bufs.Put(b) }
