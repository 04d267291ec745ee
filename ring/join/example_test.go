package join_test

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// ExampleJoin has two workers in one process add their ranks. Workers that a launcher has
// started in processes of their own need no Place, no Token and no rendezvous: Join finds
// them.
func ExampleJoin() {
	secret := token.New()
	server, err := join.Serve("127.0.0.1:0", false, rendezvous.ServerConfig{WorldSize: 2, Token: secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	var sums [2]float32
	worker := func(rank int) error {
		p, err := place.Find(os.Getenv, nil, place.Flags{Rank: rank, WorldSize: 2, Rendezvous: server.Addr()})
		if err != nil {
			return err
		}
		g, err := join.Join(context.Background(), join.Options{Place: &p, Config: join.Config{Token: secret}})
		if err != nil {
			return err
		}
		buf := []float32{float32(rank + 1)}
		if err := g.AllReduce(context.Background(), ring.Reduction{Buf: buf}); err != nil {
			g.Close()
			return err
		}
		sums[rank] = buf[0]
		return g.Close()
	}
	var workers errgroup.Group
	for rank := range sums {
		workers.Go(func() error { return worker(rank) })
	}
	fmt.Println(workers.Wait(), sums)
	// Output: <nil> [3 3]
}
