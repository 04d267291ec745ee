package main

// removedOptions are the options of earlier versions that are gone, each with what to do instead.
var removedOptions = map[string]string{
	"streams": "leave it out, a ring has one TCP connection to each neighbour",
}
