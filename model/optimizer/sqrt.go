package optimizer

import "math"

// sqrt is the square root of x, rounded once: the float64 root of a float32
// rounds to the same float32 as the exact one.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
