// Allreduce sums a vector over all ranks, without any model:
//
//	ringtrain run -np 4 ./allreduce
//
// mpirun, srun, torchrun and the others start it as well: Join reads who this rank is.
package main

import (
	"context"
	"fmt"
	"log"

	"ringtrain/ring"
	"ringtrain/ring/join"
)

func main() {
	ctx := context.Background()
	group, err := join.Join(ctx, join.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rank, size := group.Membership().Rank, group.Membership().Size()
	gradient := []float32{1, float32(rank)}
	if err := group.AllReduce(ctx, ring.Reduction{Buf: gradient}); err != nil {
		log.Fatal(err) // a *ring.PeerError names the rank that is lost
	}
	fmt.Printf("rank %d of %d: sum %v\n", rank, size, gradient)
	if err := group.Close(); err != nil {
		log.Fatal(err)
	}
}
