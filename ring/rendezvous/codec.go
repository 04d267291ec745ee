package rendezvous

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// exactCodec is gRPC's codec, but for large messages: the roster of a large job goes
// to all workers at once, and gRPC's own buffers would take 1 MiB for each of them.
type largeMessageCodec struct{ encoding.CodecV2 }

// largestPooled is up to where gRPC has buffers of a fitting size.
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
