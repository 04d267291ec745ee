package main

// removedOptions are the options of earlier versions that are gone, each with what to do instead.
var removedOptions = map[string]string{
	"tune":    "leave it out, allreduce.algorithm auto takes doubling, halving or the ring by the size of a buffer",
	"streams": "leave it out, a ring has one TCP connection to each neighbour",
}
