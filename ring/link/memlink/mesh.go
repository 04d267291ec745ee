package memlink

import "ringtrain/ring"

// Mesh returns the transports of p ranks in memory, by rank: the ring and the rounds of
// recursive doubling.
func Mesh(p int) []ring.Transport {
	mesh, ranks := make([]ring.Transport, p), make([]int, p)
	for r, l := range Ring(p) {
		mesh[r].Ring, ranks[r] = l, r
	}
	routes := make([][]ring.Route, p)
	for r := range mesh {
		routes[r] = ring.RoundRoutes(ranks, r, ring.StreamRounds)
		mesh[r].Rounds = make([]ring.Link, len(routes[r]))
	}
	for r := range mesh {
		for k, route := range routes[r] {
			if route.To > r { // both ends, once for each pair
				mesh[r].Rounds[k], mesh[route.To].Rounds[k] = Pair()
			}
		}
	}
	return mesh
}

// Pair returns both ends of a link between two ranks.
func Pair() (a, b ring.Link) {
	there, back := newPipe(), newPipe()
	return &link{left: back, right: there}, &link{left: there, right: back}
}
