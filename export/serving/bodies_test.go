package serving

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/serving/servingpb"
)

// TestLargeBodiesTakeTurns verifies that a large request has room until its answer, that the next one
// waits for it as long as a request may take, and that small ones and broken ones hold nothing.
func TestLargeBodiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(1<<20, time.Minute)
		encoded := func(n int) mem.BufferSlice {
			text, err := proto.Marshal(&servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{SignatureName: string(make([]byte, n))}})
			if err != nil {
				t.Fatal(err)
			}
			return mem.BufferSlice{mem.SliceBuffer(text)}
		}
		read := func(n int) *servingpb.PredictRequest {
			r := &servingpb.PredictRequest{}
			if err := b.Unmarshal(encoded(n), r); err != nil {
				t.Error(err)
			}
			return r
		}
		answer := func(r any) error {
			_, err := b.answer(t.Context(), r, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) { return nil, nil })
			return err
		}
		first := read(600 << 10)
		read(smallBody / 2)
		began, second := time.Now(), make(chan any)
		go func() { second <- read(600 << 10) }()
		time.Sleep(time.Second)
		synctest.Wait()
		if err := answer(first); err != nil {
			t.Error(err)
		}
		held := <-second
		if time.Since(began) != time.Second {
			t.Errorf("the second request waited %v, want until the first had its answer", time.Since(began))
		}
		if err := b.Unmarshal(mem.BufferSlice{mem.SliceBuffer(make([]byte, 300<<10))}, &servingpb.PredictRequest{}); err == nil {
			t.Error("zeros are a request")
		}
		late := read(2 << 20)
		if err := answer(late); status.Code(err) != codes.DeadlineExceeded || late.GetModelSpec() != nil {
			t.Errorf("a request without room: %v, want DEADLINE_EXCEEDED, and that it is not decoded", err)
		}
		if err := answer(held); err != nil || !b.room.TryAcquire(1<<20) {
			t.Errorf("%v, or room is lost", err)
		}
	})
}
