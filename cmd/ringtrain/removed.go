package main

// removedOptions are the options of earlier versions that are gone, each with what to do instead.
var removedOptions = map[string]string{
	"check":   "leave it out, a test of the tree compares predictions with shaped links",
	"journal": "no journal is needed: start the rendezvous again at the same address, its workers bring it up to date (docs/migrate.md#journal)",
	"many":    "a rendezvous serves one job: start one for each, on a port of its own",
	"plot":    "leave it out, --json has the rows of the table",
	"tune":    "leave it out, allreduce.algorithm auto takes doubling, halving or the ring by the size of a buffer",
	"streams": "leave it out, a ring has one TCP connection to each neighbour",
}

// removedCommands are the commands of earlier versions that are gone, each with what to do instead.
var removedCommands = map[string]string{"bench train": "ringtrain bench job takes the same kinds of models, and jobs"}
