package serving

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip"  // clients may compress
	_ "google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/mem"

	"ringtrain/export/serving/servingpb"
)

// bodies is the codec of gRPC, which bounds the memory of large requests: a request of two bytes an
// example takes forty times as much when it is decoded. From decoding to the answer, those that are
// large have room together for as many bytes as one request may have. Others wait for their turn.
type bodies struct {
	encoding.CodecV2
	room    *semaphore.Weighted
	limit   int64 // bytes
	timeout time.Duration
	held    sync.Map // bytes by request; 0 of one that was not decoded, because its turn did not come
}

// smallBody is the size up to which a request waits for nothing.
const smallBody = 64 << 10

func newBodies(limit int, timeout time.Duration) *bodies {
	return &bodies{CodecV2: encoding.GetCodecV2("proto"), room: semaphore.NewWeighted(int64(limit)), limit: int64(limit), timeout: timeout}
}

// Unmarshal decodes a message. A large request has its room until answer has answered it.
func (b *bodies) Unmarshal(data mem.BufferSlice, v any) error {
	_, asks := v.(interface{ GetModelSpec() *servingpb.ModelSpec })
	n := min(int64(data.Len()), b.limit)
	if !asks || n <= smallBody {
		return b.CodecV2.Unmarshal(data, v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	if b.room.Acquire(ctx, n) != nil {
		b.held.Store(v, int64(0))
		return nil
	}
	err := b.CodecV2.Unmarshal(data, v)
	if err != nil {
		b.room.Release(n)
		return err
	}
	b.held.Store(v, n)
	return nil
}

// answer is the interceptor that gives back the room of a request.
func (b *bodies) answer(ctx context.Context, r any, call *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	if held, large := b.held.LoadAndDelete(r); large {
		n := held.(int64)
		if n == 0 {
			return nil, errLate
		}
		defer b.room.Release(n)
	}
	defer unbroken(call.FullMethod, &err)
	return next(ctx, r)
}
