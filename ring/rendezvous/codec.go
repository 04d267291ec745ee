package rendezvous

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// largeMessageCodec is gRPC's codec with exact buffers for large messages. The roster of a large
// job goes to all workers at once, and gRPC's own buffers are much larger.
type largeMessageCodec struct{ encoding.CodecV2 }

// maxPooled is the size of messages up to which gRPC's buffers fit.
const maxPooled = 32 << 10

func newCodec() encoding.CodecV2 { return largeMessageCodec{encoding.GetCodecV2("proto")} }

func (c largeMessageCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(proto.Message)
	if !ok || proto.Size(m) <= maxPooled {
		return c.CodecV2.Marshal(v)
	}
	b, err := proto.Marshal(m)
	return mem.BufferSlice{mem.SliceBuffer(b)}, err
}
