//go:build race

package ring_test

// raceDetector tells whether the tests run under the race detector, where
// sync.Pool drops objects on purpose.
const raceDetector = true
