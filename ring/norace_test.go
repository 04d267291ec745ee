//go:build !race

package ring_test

const raceDetector = false
