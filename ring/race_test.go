//go:build race

package ring_test

// raceDetector reports whether the tests run under the race detector, in which sync.Pool drops
// objects on purpose.
const raceDetector = true
