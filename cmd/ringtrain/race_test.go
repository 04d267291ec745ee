//go:build race

package main

// raceDetector tells whether the tests run under the race detector, which takes
// several times the memory.
const raceDetector = true
